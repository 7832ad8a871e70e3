package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"

	"github.com/agentperf/agentperf-tui/engine/plan"
)

// Bindings are the values of a plan's placeholders on this machine: one node,
// the loopback address, and a free port for each step that listens.
func Bindings(p *plan.Plan, id, dir, logs, program string) ([]string, error) {
	pairs := []string{
		"{node:0}", "localhost", "{ip:0}", "127.0.0.1", plan.JobID, id, plan.RunDir, dir, plan.LogDir, logs,
		plan.Binary, program,
	}
	// All listeners stay open until each has a port, so that no port is given twice.
	var open []net.Listener
	var errs []error
	for _, s := range p.Steps {
		if s.Stage == plan.Client {
			continue
		}
		l, port, err := listen()
		if err != nil {
			errs = append(errs, fmt.Errorf("find a port for %s: %w", s.Name, err))
			continue
		}
		open = append(open, l)
		pairs = append(pairs, "{port:"+s.Name+"}", strconv.Itoa(port))
	}
	for _, l := range open {
		errs = append(errs, l.Close())
	}
	return pairs, errors.Join(errs...)
}

// Ports below the range from which the kernel takes the near ends of
// connections: a probe of a server that is not up yet could meet itself there.
const firstPort, lastPort = 20000, 32000

func listen() (net.Listener, int, error) {
	var last error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			return l, port, nil
		}
		last = err
	}
	return nil, 0, last
}
