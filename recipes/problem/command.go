package problem

// Errors of the command line.
const (
	Usage                ID = "usage"
	FlagValue            ID = "flag-value"
	FlagConflict         ID = "flag-conflict"
	JSONNotAvailable     ID = "json-not-available"
	TerminalRequired     ID = "terminal-required"
	ConfirmationRequired ID = "confirmation-required"
	NotConfirmed         ID = "not-confirmed"
	Interrupted          ID = "interrupted"
	TimedOut             ID = "timed-out"
	NameUnknown          ID = "name-unknown"
	PatternInvalid       ID = "pattern-invalid"
)

var commandEntries = []Entry{
	{
		ID: Usage, Title: "wrong usage",
		Cause:  "The command does not exist, or does not take this flag or this number of arguments.",
		Remedy: "Run the command with --help.",
	},
	{
		ID: FlagValue, Title: "invalid flag value",
		Cause:  "The value of a flag has the wrong form or is out of range.",
		Remedy: "Pass a value of the form that the message names.",
	},
	{
		ID: FlagConflict, Title: "conflicting flags",
		Cause:  "Two flags, or a flag and an argument, can't be combined.",
		Remedy: "Remove one of them.",
	},
	{
		ID: JSONNotAvailable, Title: "no JSON output",
		Cause:  "The command is interactive and prints no data.",
		Remedy: "Remove --json, or use the command that prints the data.",
	},
	{
		ID: TerminalRequired, Title: "terminal required",
		Cause:  "The command opens a screen, but its input or output is not a terminal.",
		Remedy: "Run it in a terminal, or use the plain command for the same task.",
	},
	{
		ID: ConfirmationRequired, Title: "confirmation required",
		Cause:  "The command asks for confirmation, but standard input is not a terminal.",
		Remedy: "Pass --yes.",
	},
	{
		ID: NotConfirmed, Title: "not confirmed",
		Cause:  "The confirmation was declined, so nothing was done.",
		Remedy: "Run the command again and answer yes.",
	},
	{
		ID: Interrupted, Title: "interrupted",
		Cause:  "A signal or a key stopped the command before it was done.",
		Remedy: "Run it again. Submitted runs continue.",
	},
	{
		ID: TimedOut, Title: "timed out",
		Cause:  "An operation did not finish within its time limit.",
		Remedy: "Try again; if it fails again, check the load of the machine, the file system and the cluster.",
	},
	{
		ID: NameUnknown, Title: "unknown name",
		Cause:  "No field, rule or error has this name.",
		Remedy: "Run explain without an argument to list all fields.",
	},
	{
		ID: PatternInvalid, Title: "invalid search pattern",
		Cause:  "The pattern of a search or filter is not a regular expression in RE2 syntax.",
		Remedy: "Correct it. Put a backslash before a special character to search for the character itself.",
	},
}
