package backend

import (
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Mock defines the mock servers that replace the servers of any backend in a local run. The
// fields are their simulated speed.
type Mock struct {
	TTFT, PrefillPerToken, ITL  time.Duration
	StreamInterval, BlockTokens int // tokens per event; tokens per prefix-cache block, few since local prompts are short
}

// LocalMock returns the speed of the mock servers of a local run.
func LocalMock() Mock {
	return Mock{
		TTFT: 120 * time.Millisecond, PrefillPerToken: 40 * time.Microsecond, ITL: 10 * time.Millisecond, StreamInterval: 2,
		BlockTokens: 16,
	}
}

func (m Mock) flags() []string {
	return []string{
		"--ttft", m.TTFT.String(), "--prefill-per-token", m.PrefillPerToken.String(), "--itl", m.ITL.String(),
		"--stream-interval", itoa(m.StreamInterval), "--block-tokens", itoa(m.BlockTokens),
	}
}

// String returns the speed as flags of the mock server.
func (m Mock) String() string { return strings.Join(m.flags(), " ") }

// Config returns no file: mock servers have flags only.
func (Mock) Config(*recipes.Recipe, recipes.Role) (File, error) { return File{}, nil }

// Services returns nil: the addresses of the workers are flags of the frontend.
func (Mock) Services(Deployment) []Process { return nil }

// Worker returns one process, independent of the number of GPUs.
func (m Mock) Worker(s Deployment, w Worker) Process {
	p := m.newProcess(s, w.Step(), w.Role.Name)
	p.Ready = Readiness{
		Probe: ProbeHTTP, Target: "http://" + p.Host + ":" + p.Port + "/health", TimeoutSeconds: 30, IntervalSeconds: 0.1,
	}
	return p
}

// Frontend returns the frontend, which routes requests to workers by session.
func (m Mock) Frontend(s Deployment) Process {
	var workers []string
	for _, w := range s.Workers {
		workers = append(workers, "--"+string(w.Role.Name), "http://"+loopback+":"+s.Port(w.Step()))
	}
	p := m.newProcess(s, frontendStep, schema.Frontend, workers...)
	p.Ready = healthReadiness(s.Recipe, "http://"+p.Host+":"+p.Port+"/health", 30, 0.1)
	return p
}

const loopback = "127.0.0.1"

func (m Mock) newProcess(s Deployment, step string, role schema.Role, more ...string) Process {
	port := s.Port(step)
	argv := append([]string{
		s.Program, "mock-server", "--listen", loopback + ":" + port, "--role", string(role), "--model", s.Model,
	}, more...)
	return Process{
		Name: step, Role: role, Tasks: 1, Env: Env{}, Argv: append(argv, m.flags()...), Host: loopback, Port: port,
	}
}

// Components returns the components of TensorRT-LLM, whose names the mock frontend uses.
func (Mock) Components() map[string]schema.Role { return trtllm{}.Components() }
