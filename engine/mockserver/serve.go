package mockserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// errExit is returned by [Serve] when it ends because of ServeOptions.ExitAfter.
var errExit = problem.New(problem.ServerFailed, "mock server: ended by --exit-after")

// ServeOptions are options of [Serve]. The zero value is valid.
type ServeOptions struct {
	Grace     time.Duration  // time for requests in flight to finish after the context ends; 0 means 5 s
	ExitAfter time.Duration  // ends the server abruptly after this time, as a crash would; 0 means never
	Ready     func(net.Addr) // called once with the listen address; may be nil
}

// Serve listens on listen (host:port; port 0 chooses a free one) until ctx ends. It then gives
// requests in flight the grace time to finish and returns nil.
func Serve(ctx context.Context, listen string, h http.Handler, opts ServeOptions) error {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("mock server: listen on %q: %w; choose another --listen address", listen,
			problem.Mark(problem.ServerInvalid, err))
	}
	if opts.Ready != nil {
		opts.Ready(ln.Addr())
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 30 * time.Second}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()

	var exit <-chan time.Time
	if opts.ExitAfter > 0 {
		t := time.NewTimer(opts.ExitAfter)
		defer t.Stop()
		exit = t.C
	}
	select {
	case err := <-served:
		return fmt.Errorf("mock server on %s: %w", ln.Addr(), problem.Mark(problem.ServerFailed, err))
	case <-exit:
		err := srv.Close()
		<-served
		return errors.Join(errExit, err)
	case <-ctx.Done():
	}
	grace := opts.Grace
	if grace <= 0 {
		grace = 5 * time.Second
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err = srv.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = srv.Close()
	}
	<-served
	return err
}
