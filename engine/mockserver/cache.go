package mockserver

import (
	"container/list"
	"net/http"
	"sync"
)

// prefixCache is an LRU cache of the hashes of prompt prefixes, one per block. It is safe for
// concurrent use.
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

// lookup returns the number of leading tokens of p that are cached. It counts full blocks, and
// never the entire prompt, since an engine must process at least one token.
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

// insert adds the blocks of p or marks them as recently used, the last block first, so that
// a prefix is evicted after the blocks that depend on it.
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

// Deployment models the routing of a frontend and the caches of its prefill workers, without any
// processes. It computes how many prompt tokens such a deployment finds cached. It is not safe
// for concurrent use.
type Deployment struct {
	caches []*prefixCache
}

// NewDeployment returns a deployment of prefill workers with empty caches. It uses only the cache
// sizes of the configuration.
func NewDeployment(cfg Config, prefillWorkers int) *Deployment {
	cfg = cfg.withDefaults()
	d := &Deployment{}
	for range prefillWorkers {
		d.caches = append(d.caches, newPrefixCache(cfg.BlockTokens, cfg.CacheBlocks))
	}
	return d
}

// Route returns the worker that a request of a session is routed to, and how many of its prompt
// tokens that worker has cached.
func (d *Deployment) Route(session string, p Prompt) (worker, cached int) {
	h := http.Header{}
	if session != "" {
		h.Set(sessionHeaders[0], session)
	}
	worker = int(routingKey(h, p) % uint64(len(d.caches)))
	return worker, d.caches[worker].lookup(p)
}

// FinishPrefill adds a prompt to the cache of a worker that has processed it.
func (d *Deployment) FinishPrefill(worker int, p Prompt) { d.caches[worker].insert(p) }
