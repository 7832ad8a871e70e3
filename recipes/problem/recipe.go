package problem

// Errors of recipes and workloads.
const (
	YAMLInvalid        ID = "yaml-invalid"
	RecipeInvalid      ID = "recipe-invalid"
	ValueInvalid       ID = "value-invalid"
	FieldUnknown       ID = "field-unknown"
	EditRefused        ID = "edit-refused"
	WorkloadMissing    ID = "workload-missing"
	DatasetMissing     ID = "dataset-missing"
	DatasetInvalid     ID = "dataset-invalid"
	UnlikeFiles        ID = "unlike-files"
	MigrationRefused   ID = "migration-refused"
	ExampleUnknown     ID = "example-unknown"
	QuestionUnanswered ID = "question-unanswered"
	PlaceholderOpen    ID = "placeholder-open"
)

var recipeEntries = []Entry{
	{
		ID: YAMLInvalid, Title: "invalid YAML",
		Cause:  "The file is not YAML, or uses a part of YAML that is not supported there.",
		Remedy: "Correct the line that the message names.",
	},
	{
		ID: RecipeInvalid, Title: "errors in the files of a run",
		Cause:  "The recipe, the workload or the cluster file has errors.",
		Remedy: "Run check for the list, correct them and try again.",
	},
	{
		ID: ValueInvalid, Title: "invalid value",
		Cause:  "A value does not have the type or the range of its field.",
		Remedy: "See explain FIELD for what is allowed.",
	},
	{
		ID: FieldUnknown, Title: "unknown field",
		Cause:  "The path is not a field of the file.",
		Remedy: "See explain for all fields.",
	},
	{
		ID: EditRefused, Title: "edit not possible",
		Cause:  "The value can't be changed without changing others, such as what an alias stands for.",
		Remedy: "Edit the file by hand.",
	},
	{
		ID: WorkloadMissing, Title: "workload file required",
		Cause:  "No workload was given, and the recipe names none that this machine can see.",
		Remedy: "Pass --workload FILE.",
	},
	{
		ID: DatasetMissing, Title: "dataset not found",
		Cause:  "The workload names a dataset that this machine does not have.",
		Remedy: "Port again with --dataset-root, or correct the path in the workload.",
	},
	{
		ID: DatasetInvalid, Title: "invalid dataset",
		Cause:  "A trajectory or assignment file has a line or an entry that can't be used.",
		Remedy: "Correct the line that the message names, or use another dataset.",
	},
	{
		ID: UnlikeFiles, Title: "files of different types",
		Cause:  "A recipe was compared with a workload.",
		Remedy: "Compare files of one kind.",
	},
	{
		ID: MigrationRefused, Title: "migration not possible",
		Cause:  "A part of the recipe has no equivalent in layout 2 that a program could choose.",
		Remedy: "Change that part by hand, then migrate again.",
	},
	{
		ID: ExampleUnknown, Title: "no such example",
		Cause:  "There is no example recipe of that name.",
		Remedy: "The message lists the names.",
	},
	{
		ID: QuestionUnanswered, Title: "questions are open",
		Cause:  "The port of this recipe left questions that must be answered before a run.",
		Remedy: "Answer them in the port screen or with --answers, or pass --allow-todo.",
	},
	{
		ID: PlaceholderOpen, Title: "placeholders are open",
		Cause:  "The files still hold placeholders instead of values.",
		Remedy: "Give the values, or pass --allow-todo.",
	},
}
