package problem

// Errors of runs.
const (
	RunNotFound         ID = "run-not-found"
	RunAmbiguous        ID = "run-ambiguous"
	RunExternal         ID = "run-external"
	RunElsewhere        ID = "run-elsewhere"
	RunGone             ID = "run-gone"
	RunUnreadable       ID = "run-unreadable"
	RunFailed           ID = "run-failed"
	RunNotEnded         ID = "run-not-ended"
	RunOtherJob         ID = "run-other-job"
	LogNotFound         ID = "log-not-found"
	AllocationMismatch  ID = "allocation-mismatch"
	PlaybackNotPossible ID = "playback-not-possible"
)

var runEntries = []Entry{
	{
		ID: RunNotFound, Title: "run not found",
		Cause:  "No path, job id or recorded run matches the name.",
		Remedy: "Run runs for the list.",
	},
	{
		ID: RunAmbiguous, Title: "more than one run matches",
		Cause:  "The beginning of a name matches several runs.",
		Remedy: "Give more of the name, or the job id.",
	},
	{
		ID: RunExternal, Title: "external run",
		Cause:  "The run was not submitted from here, so it can only be read.",
		Remedy: "Use the program that submitted it.",
	},
	{
		ID: RunElsewhere, Title: "the run is on another host",
		Cause:  "A local run can only be controlled on the host that it runs on.",
		Remedy: "Log in to that host.",
	},
	{
		ID: RunGone, Title: "the run's directory is gone",
		Cause:  "The directory of a recorded run was removed or moved.",
		Remedy: "Give its new path, or restore it.",
	},
	{
		ID: RunUnreadable, Title: "unreadable run",
		Cause:  "A file in the run's directory can't be read.",
		Remedy: "See the message for the file.",
	},
	{
		ID: RunFailed, Title: "the run did not succeed",
		Cause:  "The run has failed, was cancelled or reached its time limit.",
		Remedy: "See runs show RUN and logs RUN.",
	},
	{
		ID: RunNotEnded, Title: "the run has not ended",
		Cause:  "The watch ended before the run did; the run goes on.",
		Remedy: "Run watch again.",
	},
	{
		ID: RunOtherJob, Title: "another job has this id",
		Cause:  "The job id belongs to another job now.",
		Remedy: "Nothing was cancelled; see squeue.",
	},
	{
		ID: LogNotFound, Title: "log not found",
		Cause:  "The step has no log, or has not begun.",
		Remedy: "Run logs RUN --list.",
	},
	{
		ID: AllocationMismatch, Title: "another allocation than planned",
		Cause:  "The job's nodes or environment are not those of the run's plan.",
		Remedy: "Submit the run again.",
	},
	{
		ID: PlaybackNotPossible, Title: "no playback",
		Cause:  "The run has no request rows of this client start.",
		Remedy: "See results RUN for what there is.",
	},
}
