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
	UnknownWord          ID = "unknown-word"
)

var commandEntries = []Entry{
	{
		ID: Usage, Title: "wrong usage",
		Cause:  "The command, a flag or the number of arguments is not what the command takes.",
		Remedy: "Run the command with --help.",
	},
	{
		ID: FlagValue, Title: "invalid value of a flag",
		Cause:  "The value of a flag has another form or lies outside its range.",
		Remedy: "Give a value of the form that the message names.",
	},
	{
		ID: FlagConflict, Title: "flags that exclude each other",
		Cause:  "Two flags were given, or a flag and an argument, of which only one can hold.",
		Remedy: "Leave out one of them.",
	},
	{
		ID: JSONNotAvailable, Title: "no JSON output",
		Cause:  "The command shows something to people and prints no data.",
		Remedy: "Leave out --json, or use the command that prints the data.",
	},
	{
		ID: TerminalRequired, Title: "a terminal is required",
		Cause:  "The command opens a screen, and its input or output is not a terminal.",
		Remedy: "Run it in a terminal, or use the plain command that does the same.",
	},
	{
		ID: ConfirmationRequired, Title: "a confirmation is required",
		Cause:  "The command asks before it acts, and standard input is not a terminal.",
		Remedy: "Pass --yes.",
	},
	{
		ID: NotConfirmed, Title: "not confirmed",
		Cause:  "The question was answered with no, so nothing was done.",
		Remedy: "Run the command again and answer yes.",
	},
	{
		ID: Interrupted, Title: "interrupted",
		Cause:  "A signal or a key ended the command before it was done.",
		Remedy: "Run it again. Runs that were submitted go on.",
	},
	{
		ID: TimedOut, Title: "timed out",
		Cause:  "Something did not answer within its time limit.",
		Remedy: "Try again; if it happens again, look at the load of the machine, the file system and the cluster.",
	},
	{
		ID: UnknownWord, Title: "nothing by that name",
		Cause:  "explain knows no field, rule or error of that name.",
		Remedy: "Run explain without an argument for all fields.",
	},
}
