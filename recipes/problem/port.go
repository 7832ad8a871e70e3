package problem

// Errors of ports.
const (
	HarnessRunNotFound ID = "harness-run-not-found"
	ArtifactInvalid    ID = "artifact-invalid"
	AnswerInvalid      ID = "answer-invalid"
	ReportInvalid      ID = "report-invalid"
	ReportMissing      ID = "report-missing"
	OutputConflict     ID = "output-conflict"
	OutputInUse        ID = "output-in-use"
)

var portEntries = []Entry{
	{
		ID: HarnessRunNotFound, Title: "not a harness run directory",
		Cause:  "The directory contains none of the files that the harness writes.",
		Remedy: "Give the directory of one run, often c<N>, or pass --tree for many runs.",
	},
	{
		ID: ArtifactInvalid, Title: "unreadable artifact",
		Cause:  "A file of the harness can't be parsed.",
		Remedy: "See the message for the file and line. The port asks for the values that depend on it.",
	},
	{
		ID: AnswerInvalid, Title: "invalid answer",
		Cause:  "The report has no question with this ID, or the value does not fit the field.",
		Remedy: "Take the ID from the report, and give a value of the type that the message names.",
	},
	{
		ID: ReportInvalid, Title: "unreadable port report",
		Cause:  "The provenance file has another version, or is not a provenance file.",
		Remedy: "Port the run directory again with this program.",
	},
	{
		ID: ReportMissing, Title: "no port report",
		Cause:  "There is no provenance file beside the recipe.",
		Remedy: "Port the run directory, or give a recipe that a port wrote.",
	},
	{
		ID: OutputConflict, Title: "output path in conflict",
		Cause:  "Two outputs have the same path, or an output would replace a file of the harness.",
		Remedy: "Give another name.",
	},
	{
		ID: OutputInUse, Title: "output directory in use",
		Cause:  "Another port writes to the same output directory.",
		Remedy: "Wait until it has ended, or pass another --out-dir.",
	},
}
