package problem

// Errors of ports.
const (
	RunDirectoryNotFound ID = "run-directory-not-found"
	ArtifactInvalid      ID = "artifact-invalid"
	AnswerInvalid        ID = "answer-invalid"
	ReportInvalid        ID = "report-invalid"
	ReportMissing        ID = "report-missing"
)

var portEntries = []Entry{
	{
		ID: RunDirectoryNotFound, Title: "no harness run directory",
		Cause:  "The directory holds none of the files that the harness writes, nor does one below it.",
		Remedy: "Give the directory c<N> of one run, or --tree for many.",
	},
	{
		ID: ArtifactInvalid, Title: "unreadable artifact",
		Cause:  "A file of the harness can't be read as what it should be.",
		Remedy: "See the message for the file and line; what depends on it is asked.",
	},
	{
		ID: AnswerInvalid, Title: "invalid answer",
		Cause:  "An answer names no field of the report, or its value does not fit the field.",
		Remedy: "Take the ID from the report, and a value of the type that the message names.",
	},
	{
		ID: ReportInvalid, Title: "unreadable port report",
		Cause:  "The provenance file of a port is of another version, or is not one.",
		Remedy: "Port again with this program.",
	},
	{
		ID: ReportMissing, Title: "no port report",
		Cause:  "There is no provenance file beside the recipe.",
		Remedy: "Port the run directory, or give the recipe that a port wrote.",
	},
}
