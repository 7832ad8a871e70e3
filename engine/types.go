package engine

import (
	"github.com/agentperf/agentperf-tui/engine/draft"
	"github.com/agentperf/agentperf-tui/engine/runs"
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

// ErrChanged says that a file is no longer what it was when it was read.
var ErrChanged = draft.ErrChanged
