package problem

// Errors of results.
const (
	ResultsNotFound ID = "results-not-found"
	PhaseUnknown    ID = "phase-unknown"
	RowsUnreadable  ID = "rows-unreadable"
	FiguresInvalid  ID = "figures-invalid"
	TooManyBuckets  ID = "too-many-buckets"
)

var resultEntries = []Entry{
	{
		ID: ResultsNotFound, Title: "no results",
		Cause:  "The directory holds no output of the client.",
		Remedy: "Give the run, its log directory or the directory agentperf in it.",
	},
	{
		ID: PhaseUnknown, Title: "no such phase",
		Cause:  "The run has no phase of that index, or has several and none was chosen.",
		Remedy: "Pass --phase N.",
	},
	{
		ID: RowsUnreadable, Title: "unreadable request rows",
		Cause:  "Rows, a manifest or statistics can't be read as what the client writes.",
		Remedy: "See the message for file, line and column.",
	},
	{
		ID: FiguresInvalid, Title: "invalid file of figures",
		Cause:  "The file has an unknown key or a value outside its range, or no figure at all.",
		Remedy: "Use the keys of the client's statistics file.",
	},
	{
		ID: TooManyBuckets, Title: "too many buckets",
		Cause:  "The time series would have more buckets than can be shown.",
		Remedy: "Pass a longer --bucket.",
	},
}
