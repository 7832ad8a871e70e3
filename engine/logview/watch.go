package logview

import (
	"context"
	"sync"

	"github.com/agentperf/agentperf-tui/engine/follow"
)

// Growth tells that a log of a view has changed.
type Growth struct {
	File      int   // which of the view's
	Restarted bool  // truncated or replaced: places in it mean nothing any more
	Err       error // why it can't be read now; watching goes on
}

// Watched is a view with what tells of its growth from its end on, until ctx ends. If
// it can't be read it is closed.
func Watched(ctx context.Context, v *View) (*View, <-chan Growth, error) {
	end, err := v.End()
	if err != nil {
		v.Close()
		return nil, nil, err
	}
	grown, err := v.watch(ctx, end)
	if err != nil {
		v.Close()
	}
	return v, grown, err
}

// watch tells of every growth until ctx ends, from the places on that the view's end had. Then it
// closes the channel. What grows while nobody listens is told in one.
func (v *View) watch(ctx context.Context, from Pos) (<-chan Growth, error) {
	out := make(chan Growth)
	streams := make([]<-chan follow.Chunk, 0, len(v.files))
	ctx, cancel := context.WithCancel(ctx)
	for i, f := range v.files {
		const held = 64 << 10 // only whether it grows is wanted
		in, err := follow.File(ctx, f.path, follow.Options{From: from[i], Begun: true, MaxLine: held})
		if err != nil {
			cancel()
			return nil, err
		}
		streams = append(streams, in)
	}
	var all sync.WaitGroup
	for i, in := range streams {
		all.Go(func() {
			for c := range in {
				select {
				case out <- Growth{File: i, Restarted: c.Restarted, Err: c.Err}:
				case <-ctx.Done():
				}
			}
		})
	}
	go func() {
		defer close(out)
		defer cancel()
		all.Wait()
	}()
	return out, nil
}
