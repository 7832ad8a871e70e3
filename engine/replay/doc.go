// Package replay is the built-in client: it plays recorded agent conversations
// against an OpenAI-compatible server, one request in flight a user, and leaves
// the same files as the external AgentPerf client does. Those files, the banner
// and the summary name this implementation, so that nobody takes its figures for
// the external client's.
//
// What each user sends, and in which order, is a pure function of the dataset
// and the seed ([Script]); only the times are measured. The package reads no
// workload file (the caller fills a [Config]) and knows nothing of recipes,
// schedulers or screens.
package replay
