package engine

import "github.com/agentperf/agentperf-tui/engine/draft"

// Files of a run while they are edited, see [draft].
type (
	Files   = draft.Files
	Pair    = draft.Pair
	Draft   = draft.Draft
	Fixed   = draft.Fixed
	Unsaved = draft.Unsaved
	Handoff = draft.Handoff
)

// ErrChanged says that a file is no longer what it was when it was read.
var ErrChanged = draft.ErrChanged
