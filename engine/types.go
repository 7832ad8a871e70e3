package engine

import (
	"github.com/agentperf/agentperf-tui/engine/doctor"
	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/results/parity"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/engine/runs"
	"github.com/agentperf/agentperf-tui/engine/submit"
	"github.com/agentperf/agentperf-tui/engine/watch"
)

// Files of a run while they are edited, see [draft].
type (
	Files   = draft.Files
	Pair    = draft.Pair
	Draft   = draft.Draft
	Fixed   = draft.Fixed
	Unsaved = draft.Unsaved
	Handoff = draft.Handoff
)

// Runs, see [runs], and how they are watched, see [watch].
type (
	RunRef       = runs.Ref
	Summary      = runs.Summary
	LogFile      = runs.LogFile
	Shell        = runs.Shell
	Update       = watch.Update
	WatchOptions = watch.Options
	Playback     = watch.Playback
)

// Submits, see [submit], and what goes with them.
type (
	PlanOptions = submit.PlanOptions
	Ports       = submit.Ports
	Record      = rundir.Record
	Fact        = doctor.Fact
)

// Two sides compared, see [parity].
type (
	Comparison = parity.Comparison
	Side       = parity.Side
)

// Errors by which a screen decides.
var (
	ErrInvalid = submit.ErrInvalid
	ErrTodos   = submit.ErrTodos
)

// ErrChanged says that a file is no longer what it was when it was read.
var ErrChanged = draft.ErrChanged
