package mockserver

import (
	"net/http"
)

// Deployment is the caches and the routing of a frontend with its prefill
// workers, without the processes: what such a deployment answers to a request can
// be computed with it before one is sent. Not for concurrent use.
type Deployment struct {
	caches []*prefixCache
}

// NewDeployment is a deployment of so many prefill workers with empty caches.
// Of the configuration only the cache's sizes count.
func NewDeployment(cfg Config, prefillWorkers int) *Deployment {
	cfg = cfg.withDefaults()
	d := &Deployment{}
	for range prefillWorkers {
		d.caches = append(d.caches, newPrefixCache(cfg.BlockTokens, cfg.CacheBlocks))
	}
	return d
}

// Arrive is a request of a session that comes in: the worker that it is routed
// to, and how many of its prompt tokens that one holds.
func (d *Deployment) Arrive(session string, p Prompt) (worker, cached int) {
	h := http.Header{}
	if session != "" {
		h.Set(sessionHeaders[0], session)
	}
	worker = int(affinity(h, p) % uint64(len(d.caches)))
	return worker, d.caches[worker].lookup(p)
}

// Prefilled tells that a worker is done with a prompt, so that it holds it.
func (d *Deployment) Prefilled(worker int, p Prompt) { d.caches[worker].insert(p) }
