package problem

// Errors of clients and servers.
const (
	ClientInvalid     ID = "client-invalid"
	ClientBuildFailed ID = "client-build-failed"
	ResultsInUse      ID = "results-in-use"
	AllRequestsFailed ID = "all-requests-failed"
	ServerInvalid     ID = "server-invalid"
	ServerFailed      ID = "server-failed"
	RequestInvalid    ID = "request-invalid"
)

var clientEntries = []Entry{
	{
		ID: ClientInvalid, Title: "client can't be used",
		Cause:  "The checkout or the runtime directory of the external client can't be used.",
		Remedy: "See the message. benchmark.agentperf_client_dir is the checkout, AGENTPERF_RUNTIME the runtime directory.",
	},
	{
		ID: ClientBuildFailed, Title: "client build failed",
		Cause:  "A step of the client's build failed or took too long.",
		Remedy: "See the client's log.",
	},
	{
		ID: ResultsInUse, Title: "results directory in use",
		Cause:  "Two clients would write into one results directory, or use one runtime.",
		Remedy: "Choose another directory, or wait until the other run has ended.",
	},
	{
		ID: AllRequestsFailed, Title: "all requests failed",
		Cause:  "Every request of the replay failed.",
		Remedy: "See the client's log for the reasons.",
	},
	{
		ID: ServerInvalid, Title: "invalid mock server options",
		Cause:  "The options of the mock server contradict each other or are out of range.",
		Remedy: "Correct the option that the message names.",
	},
	{
		ID: ServerFailed, Title: "server failed",
		Cause:  "A server returned an error or exited.",
		Remedy: "See the server's log.",
	},
	{
		ID: RequestInvalid, Title: "invalid request",
		Cause:  "A chat request, or the conversation that it is built from, is not valid.",
		Remedy: "Correct the field that the message names.",
	},
}
