package mockserver

import (
	"container/list"
	"net/http"
	"sync"
)

// prefixCache holds the hashes of prompt prefixes, block by block, and forgets
// those that were used longest ago. Safe for concurrent use.
type prefixCache struct {
	blockTokens int
	capacity    int

	mu     sync.Mutex
	order  *list.List // of uint64, most recently used first
	blocks map[uint64]*list.Element
}

func newPrefixCache(blockTokens, capacity int) *prefixCache {
	return &prefixCache{
		blockTokens: blockTokens, capacity: capacity, order: list.New(), blocks: make(map[uint64]*list.Element),
	}
}

// lookup is the number of leading tokens of p that are held: whole blocks, and
// never all of the prompt, since an engine needs one token to start from.
func (c *prefixCache) lookup(p Prompt) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, b := range p.blocks {
		if _, ok := c.blocks[b]; !ok || (n+1)*c.blockTokens >= p.Tokens {
			break
		}
		n++
	}
	return n * c.blockTokens
}

// insert adds the blocks of p or marks them as used, the deepest first, so that
// a prefix outlives what hangs on it.
func (c *prefixCache) insert(p Prompt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := len(p.blocks) - 1; i >= 0; i-- {
		b := p.blocks[i]
		if e, ok := c.blocks[b]; ok {
			c.order.MoveToFront(e)
			continue
		}
		c.blocks[b] = c.order.PushFront(b)
	}
	for c.order.Len() > c.capacity {
		oldest := c.order.Back()
		delete(c.blocks, oldest.Value.(uint64))
		c.order.Remove(oldest)
	}
}

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
