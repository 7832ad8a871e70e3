package mockserver

import (
	"container/list"
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
