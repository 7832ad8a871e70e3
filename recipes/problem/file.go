package problem

// Errors of files and the operating system.
const (
	FileNotFound      ID = "file-not-found"
	PermissionDenied  ID = "permission-denied"
	FileExists        ID = "file-exists"
	FileChanged       ID = "file-changed"
	FileReadOnly      ID = "file-read-only"
	NotAFile          ID = "not-a-file"
	NotADirectory     ID = "not-a-directory"
	FileTooLarge      ID = "file-too-large"
	FileTruncated     ID = "file-truncated"
	JSONInvalid       ID = "json-invalid"
	NoSpace           ID = "no-space"
	WriteFailed       ID = "write-failed"
	SystemError       ID = "system-error"
	AddressInUse      ID = "address-in-use"
	ServerUnreachable ID = "server-unreachable"
	CommandNotFound   ID = "command-not-found"
	ProgramFailed     ID = "program-failed"
)

var fileEntries = []Entry{
	{
		ID: FileNotFound, Title: "file or directory not found",
		Cause:  "The path does not exist on this machine.",
		Remedy: "Correct the path. Paths in containers and on compute nodes may not exist here.",
	},
	{
		ID: PermissionDenied, Title: "permission denied",
		Cause:  "The user may not read or write the file, or may not enter its directory.",
		Remedy: "Change the permissions, or use another path.",
	},
	{
		ID: FileExists, Title: "file exists",
		Cause:  "The command would overwrite an existing file.",
		Remedy: "Use another name, or pass --force if the command supports it.",
	},
	{
		ID: FileChanged, Title: "file changed on disk",
		Cause:  "The file has changed since it was read.",
		Remedy: "Reload it and repeat the change, or save under another name.",
	},
	{
		ID: FileReadOnly, Title: "file is read-only",
		Cause:  "The file or its file system is read-only.",
		Remedy: "Make it writable, or save a copy.",
	},
	{
		ID: NotAFile, Title: "not a regular file",
		Cause:  "The path is a directory, a device, a pipe or a socket.",
		Remedy: "Give the path of a regular file.",
	},
	{
		ID: NotADirectory, Title: "not a directory",
		Cause:  "The path, or a part of it, is a file.",
		Remedy: "Give the path of a directory.",
	},
	{
		ID: FileTooLarge, Title: "file too large",
		Cause:  "The file is larger than the limit for its kind.",
		Remedy: "Check that it is the right file.",
	},
	{
		ID: FileTruncated, Title: "unexpected end of file",
		Cause:  "The file, or the response of a server, ends before its content is complete.",
		Remedy: "Copy or write the file again.",
	},
	{
		ID: JSONInvalid, Title: "invalid JSON",
		Cause:  "The file is not valid JSON, or a value in it has the wrong type.",
		Remedy: "Correct the file, or give the path of another one.",
	},
	{
		ID: NoSpace, Title: "no space left",
		Cause:  "The file system is full, or the user's quota is used up.",
		Remedy: "Free space, or choose another output directory.",
	},
	{
		ID: WriteFailed, Title: "write failed",
		Cause:  "The output could not be written completely.",
		Remedy: "See the message for the cause; the previous content is kept.",
	},
	{
		ID: SystemError, Title: "operating system error",
		Cause:  "The operating system refused an operation.",
		Remedy: "See the message for the call and its reason.",
	},
	{
		ID: AddressInUse, Title: "address already in use",
		Cause:  "Another process is listening on the address.",
		Remedy: "Choose another port, or stop that process.",
	},
	{
		ID: ServerUnreachable, Title: "server unreachable",
		Cause:  "No server answers at the address.",
		Remedy: "Check the address, and that the server is running.",
	},
	{
		ID: CommandNotFound, Title: "command not found",
		Cause:  "A required program is not on the PATH.",
		Remedy: "Install it, load its module, or add its directory to the PATH.",
	},
	{
		ID: ProgramFailed, Title: "program failed",
		Cause:  "Another program exited with an error.",
		Remedy: "See its output in the message, or the log that the message names.",
	},
}
