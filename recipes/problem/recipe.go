package problem

// Errors of recipes and workloads.
const (
	YAMLInvalid        ID = "yaml-invalid"
	RecipeInvalid      ID = "recipe-invalid"
	ValueInvalid       ID = "value-invalid"
	FieldUnknown       ID = "field-unknown"
	FieldPathInvalid   ID = "field-path-invalid"
	EditRefused        ID = "edit-refused"
	EntryNotFound      ID = "entry-not-found"
	WorkloadMissing    ID = "workload-missing"
	DatasetMissing     ID = "dataset-missing"
	DatasetInvalid     ID = "dataset-invalid"
	DatasetChanged     ID = "dataset-changed"
	FileKindMismatch   ID = "file-kind-mismatch"
	MigrationRefused   ID = "migration-refused"
	MigrationNotNeeded ID = "migration-not-needed"
	ExampleUnknown     ID = "example-unknown"
	QuestionUnanswered ID = "question-unanswered"
	PlaceholderOpen    ID = "placeholder-open"
)

var recipeEntries = []Entry{
	{
		ID: YAMLInvalid, Title: "invalid YAML",
		Cause:  "The file or the value is not YAML, or uses a YAML feature that is not supported here.",
		Remedy: "Correct what the message names; quote a value that is text.",
	},
	{
		ID: RecipeInvalid, Title: "recipe, workload or cluster file has errors",
		Cause:  "The recipe, the workload or the cluster file has errors.",
		Remedy: "Run check to list them, correct them and try again.",
	},
	{
		ID: ValueInvalid, Title: "invalid value",
		Cause:  "A value does not fit the type or the range of its field.",
		Remedy: "Run explain FIELD to see the allowed values.",
	},
	{
		ID: FieldUnknown, Title: "unknown field",
		Cause:  "The path is not a field of the file.",
		Remedy: "Run explain to list all fields.",
	},
	{
		ID: FieldPathInvalid, Title: "invalid field path",
		Cause:  "The path of a field is not keys separated by dots.",
		Remedy: "Write it like roles.prefill.nodes or extra_mount[0]; put keys with dots or spaces in double quotes.",
	},
	{
		ID: EditRefused, Title: "edit not possible",
		Cause:  "The value can't be changed without changing other values, such as those that an alias refers to.",
		Remedy: "Edit the file by hand.",
	},
	{
		ID: EntryNotFound, Title: "entry not in the file",
		Cause:  "The path leads to a key or a list entry that the file does not have.",
		Remedy: "Correct the path: keys are joined by dots, list entries are [0], [1] and so on.",
	},
	{
		ID: WorkloadMissing, Title: "workload file required",
		Cause:  "No workload was given, and the recipe names none that this machine can read.",
		Remedy: "Pass --workload FILE.",
	},
	{
		ID: DatasetMissing, Title: "dataset not found",
		Cause:  "A dataset that the workload names does not exist on this machine.",
		Remedy: "Port again with --dataset-root, or correct the path in the workload.",
	},
	{
		ID: DatasetInvalid, Title: "invalid dataset",
		Cause:  "A trajectory or assignments file has an invalid line or entry.",
		Remedy: "Correct the line that the message names, or use another dataset.",
	},
	{
		ID: DatasetChanged, Title: "dataset changed while in use",
		Cause:  "A trajectory or assignments file was written while it was read or copied.",
		Remedy: "Wait until the file is complete, then start again.",
	},
	{
		ID: FileKindMismatch, Title: "files of different kinds",
		Cause:  "A recipe was compared with a workload.",
		Remedy: "Compare two files of the same kind.",
	},
	{
		ID: MigrationRefused, Title: "migration not possible",
		Cause: "A part of the recipe has no single equivalent in layout 2, or is written in a way that can't be moved " +
			"line by line: an alias, an anchor, a merge key, braces.",
		Remedy: "Change the part that the message names by hand, then migrate again.",
	},
	{
		ID: MigrationNotNeeded, Title: "already in layout 2",
		Cause:  "The recipe has schema: 2, so there is nothing to migrate.",
		Remedy: "Use the recipe unchanged.",
	},
	{
		ID: ExampleUnknown, Title: "unknown example",
		Cause:  "No example recipe has this name.",
		Remedy: "Use one of the names that the message lists.",
	},
	{
		ID: QuestionUnanswered, Title: "unanswered questions",
		Cause:  "The port of this recipe left questions that must be answered before a run.",
		Remedy: "Answer them in the port screen or with --answers, or pass --allow-todo.",
	},
	{
		ID: PlaceholderOpen, Title: "unresolved placeholders",
		Cause:  "The files still contain placeholders instead of values.",
		Remedy: "Replace them, or pass --allow-todo.",
	},
}
