// Package mockserver is an OpenAI-compatible server that answers from
// arithmetic instead of a model: it counts prompt tokens, keeps a prefix cache
// as the serving engines do, and streams tokens at times that follow from the
// request alone. It plays one process of a deployment at a time: an aggregated
// worker, a prefill or decode worker, or the frontend that routes between them.
//
// Everything it will answer can be computed beforehand with the exported pure
// functions ([ParsePrompt], [Timing], [Faults]), which is what makes it a
// reference. It knows nothing of recipes, clients or schedulers.
package mockserver
