package problem

// Errors of configuration and environment.
const (
	ConfigInvalid      ID = "config-invalid"
	EnvironmentInvalid ID = "environment-invalid"
	StateDirUnset      ID = "state-dir-unset"
	EditorUnset        ID = "editor-unset"
)

var configEntries = []Entry{
	{
		ID: ConfigInvalid, Title: "invalid configuration",
		Cause:  "The configuration file has an unknown key, or a value that is out of range.",
		Remedy: "Correct the line; README.md lists all keys.",
	},
	{
		ID: EnvironmentInvalid, Title: "invalid environment variable",
		Cause:  "The value of an environment variable can't be parsed or is out of range.",
		Remedy: "Correct or unset the variable.",
	},
	{
		ID: StateDirUnset, Title: "no state directory",
		Cause:  "Neither HOME nor XDG_STATE_HOME is set, so runs can't be recorded.",
		Remedy: "Set one of them.",
	},
	{
		ID: EditorUnset, Title: "no editor set",
		Cause:  "Neither VISUAL nor EDITOR names a program.",
		Remedy: "Set EDITOR.",
	},
}
