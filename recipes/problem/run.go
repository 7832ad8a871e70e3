package problem

// Errors of runs.
const (
	RunNotFound         ID = "run-not-found"
	RunAmbiguous        ID = "run-ambiguous"
	RunExternal         ID = "run-external"
	RunOnOtherHost      ID = "run-on-other-host"
	RunDirectoryMissing ID = "run-directory-missing"
	RunUnreadable       ID = "run-unreadable"
	RunFailed           ID = "run-failed"
	RunNotEnded         ID = "run-not-ended"
	JobIDReused         ID = "job-id-reused"
	LogNotFound         ID = "log-not-found"
	AllocationMismatch  ID = "allocation-mismatch"
	PlaybackNotPossible ID = "playback-not-possible"
)

var runEntries = []Entry{
	{
		ID: RunNotFound, Title: "run not found",
		Cause:  "No path, job id or recorded run matches the name.",
		Remedy: "List all runs with agentperf-tui runs.",
	},
	{
		ID: RunAmbiguous, Title: "ambiguous run name",
		Cause:  "The name is a prefix of the names of several runs.",
		Remedy: "Give a longer prefix, or the job id.",
	},
	{
		ID: RunExternal, Title: "external run",
		Cause:  "The run was submitted by another program, so it can only be read.",
		Remedy: "Use the program that submitted it.",
	},
	{
		ID: RunOnOtherHost, Title: "run on another host",
		Cause:  "A local run can only be controlled on the host that it runs on.",
		Remedy: "Log in to that host.",
	},
	{
		ID: RunDirectoryMissing, Title: "run directory missing",
		Cause:  "The directory of a recorded run was removed or moved.",
		Remedy: "Give its new path, or restore it.",
	},
	{
		ID: RunUnreadable, Title: "unreadable run",
		Cause:  "A file in the run's directory can't be read.",
		Remedy: "See the message for the file.",
	},
	{
		ID: RunFailed, Title: "run did not succeed",
		Cause:  "The run failed, was cancelled or reached its time limit.",
		Remedy: "See agentperf-tui runs show RUN and agentperf-tui logs RUN.",
	},
	{
		ID: RunNotEnded, Title: "run has not ended",
		Cause:  "The watch ended before the run; the run continues.",
		Remedy: "Start watch again.",
	},
	{
		ID: JobIDReused, Title: "job id reused",
		Cause:  "The job id now belongs to another job.",
		Remedy: "Nothing was cancelled; check squeue.",
	},
	{
		ID: LogNotFound, Title: "log not found",
		Cause:  "The step has no log, or has not started.",
		Remedy: "List all logs with agentperf-tui logs RUN --list.",
	},
	{
		ID: AllocationMismatch, Title: "allocation does not match the plan",
		Cause:  "The nodes or the environment of the job are not those of the run's plan.",
		Remedy: "Submit the run again.",
	},
	{
		ID: PlaybackNotPossible, Title: "playback not possible",
		Cause:  "The run has no request rows since the last start of its client.",
		Remedy: "Run results RUN to see the available data.",
	},
}
