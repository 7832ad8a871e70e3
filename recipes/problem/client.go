package problem

// Errors of clients and servers.
const (
	ClientInvalid     ID = "client-invalid"
	ClientBuildFailed ID = "client-build-failed"
	ResultsInUse      ID = "results-in-use"
	NothingSucceeded  ID = "nothing-succeeded"
	ServerInvalid     ID = "server-invalid"
	ServerFailed      ID = "server-failed"
)

var clientEntries = []Entry{
	{
		ID: ClientInvalid, Title: "client can't be used",
		Cause:  "The checkout, the build or the runtime of the external client can't be used.",
		Remedy: "See the message; benchmark.agentperf_client_dir names the checkout.",
	},
	{
		ID: ClientBuildFailed, Title: "build of the client failed",
		Cause:  "A step of the client's build failed or took too long.",
		Remedy: "See the log of the client.",
	},
	{
		ID: ResultsInUse, Title: "another run writes there",
		Cause:  "Two clients would write into one results directory, or use one runtime.",
		Remedy: "Choose another directory, or wait until the other run has ended.",
	},
	{
		ID: NothingSucceeded, Title: "no request succeeded",
		Cause:  "Every request of the replay failed.",
		Remedy: "See the client's log for the kinds of failure.",
	},
	{
		ID: ServerInvalid, Title: "mock server can't start",
		Cause:  "The options of the mock server contradict each other, or are outside their range.",
		Remedy: "Correct the option that the message names.",
	},
	{
		ID: ServerFailed, Title: "server failed",
		Cause:  "A server answered with an error, or ended.",
		Remedy: "See its log.",
	},
}
