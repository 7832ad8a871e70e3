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

// errExit is what [Serve] returns when it ended because of ServeOptions.ExitAfter.
var errExit = problem.New(problem.ServerFailed, "mock server: ended by --exit-after")

// ServeOptions are the details of [Serve]; the zero value is useful.
type ServeOptions struct {
	Grace     time.Duration  // how long requests in flight may take after the context has ended; 0 means 5 s
	ExitAfter time.Duration  // ends the server abruptly after that time, as a crash would; 0 means never
	Ready     func(net.Addr) // called once with the address that is listened on; may be nil
}

// Serve listens on listen (host:port, port 0 picks a free one) until ctx ends,
// then lets requests in flight finish for the grace time and returns nil.
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
