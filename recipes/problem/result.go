package problem

// Errors of results.
const (
	ResultsNotFound ID = "results-not-found"
	PhaseUnknown    ID = "phase-unknown"
	RowsUnreadable  ID = "rows-unreadable"
	FiguresInvalid  ID = "figures-invalid"

	FiguresAmbiguous ID = "figures-ambiguous"

	TooManyBuckets ID = "too-many-buckets"

	ReferenceNotPossible ID = "reference-not-possible"
)

var resultEntries = []Entry{
	{
		ID: ResultsNotFound, Title: "results not found",
		Cause:  "The directory contains no output of the client, or no phase has started.",
		Remedy: "Give the run, its log directory, or its agentperf directory.",
	},
	{
		ID: PhaseUnknown, Title: "no such phase",
		Cause:  "The run has no phase with this index, or has several phases and none was chosen.",
		Remedy: "Pass --phase N.",
	},
	{
		ID: RowsUnreadable, Title: "unreadable request rows",
		Cause:  "Request rows, a manifest or a statistics file of the client can't be parsed.",
		Remedy: "See the message for file, line and column.",
	},
	{
		ID: FiguresInvalid, Title: "invalid figures file",
		Cause:  "The file has an unknown key, a value that is out of range, or no figures at all.",
		Remedy: "Use the keys of the client's statistics file.",
	},
	{
		ID: FiguresAmbiguous, Title: "several sets of figures",
		Cause:  "The table has several columns of figures, or the export several runs, and none was chosen.",
		Remedy: "Append # and its number or name to the path.",
	},
	{
		ID: TooManyBuckets, Title: "too many buckets",
		Cause:  "The time series would have more buckets than can be shown.",
		Remedy: "Pass a longer --bucket.",
	},
	{
		ID: ReferenceNotPossible, Title: "no simulated reference",
		Cause:  "Only a local run of one phase can be simulated, and its phase must have time for at least one request.",
		Remedy: "Give a run that was submitted with --launcher local and one concurrency level.",
	},
}
