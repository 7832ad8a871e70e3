package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"syscall"
	"time"

	"github.com/agentperf/agentperf-tui/engine/event"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// probeTimeout bounds one look at a step; a server that answers slower is not ready.
const probeTimeout = 5 * time.Second

// prober asks the run's own servers, which no proxy of the site stands before.
var prober = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// seen is one probe's answer.
type seen struct {
	st    *started
	ready bool
	have  *event.Count // health only
	last  string       // what was seen when it is not ready
	over  bool         // the time for it is over
}

// await waits until every given step is ready. An exit of any step, a stop and a
// step's time limit end the wait.
func (j *run) await(ctx context.Context, waiting []*started) *failure {
	if len(waiting) == 0 {
		return nil
	}
	probing, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan seen)
	for _, st := range waiting {
		if r := st.step.Ready; r.Probe == plan.ProbeHealth {
			j.rec.say("INFO", fmt.Sprintf("Polling %s every %.1fs for %d prefills and %d decodes",
				r.Target, r.IntervalSeconds, r.Prefill, r.Decode))
		}
		go j.probeLoop(probing, st, answers)
	}
	var last *event.Count
	for left := len(waiting); left > 0; {
		select {
		case <-ctx.Done():
			return stopped(ctx)
		case f := <-j.fatal:
			return j.dead(f)
		case st := <-j.exits:
			if fail := j.ended(st); fail != nil {
				return fail
			}
		case a := <-answers:
			r := a.st.step.Ready
			if a.have != nil && (last == nil || *a.have != *last) {
				last = a.have
				j.rec.event(event.Health, a.st.step.Name,
					event.Data{Have: a.have, Want: &event.Count{Prefill: r.Prefill, Decode: r.Decode}})
			}
			if a.over {
				j.rec.say("ERROR", fmt.Sprintf("Model did not get healthy in %d seconds", r.TimeoutSeconds))
				return failed(fmt.Sprintf("%s was not ready within %d s; last seen: %s", a.st.step.Name, r.TimeoutSeconds, a.last))
			}
			if a.ready {
				left--
				j.rec.event(event.StepReady, a.st.step.Name, event.Data{Seconds: j.Now().Sub(a.st.begun).Seconds()})
			}
		}
	}
	return nil
}

// probeLoop looks at a step until it is ready, its time is over or the wait ends.
func (j *run) probeLoop(ctx context.Context, st *started, answers chan<- seen) {
	r := st.step.Ready
	deadline := time.NewTimer(time.Duration(r.TimeoutSeconds) * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(time.Duration(max(r.IntervalSeconds, 0.05) * float64(time.Second)))
	defer tick.Stop()
	for {
		a := j.probe(ctx, r)
		a.st = st
		if a.ready || a.have != nil {
			if !send(ctx, answers, a) || a.ready {
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-deadline.C:
			send(ctx, answers, seen{st: st, over: true, last: a.last})
			return
		case <-tick.C:
		}
	}
}

func (j *run) probe(ctx context.Context, r plan.Readiness) seen {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if r.Probe == plan.ProbeTCP {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", r.Target)
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			return seen{last: err.Error()}
		}
		return seen{ready: true}
	}
	status, body, err := get(ctx, r.Target)
	switch {
	case err != nil:
		return seen{last: err.Error()}
	case status != http.StatusOK:
		return seen{last: fmt.Sprintf("status %d from %s", status, r.Target)}
	case r.Probe == plan.ProbeHTTP:
		return seen{ready: true}
	}
	have, err := instances(body, j.Components)
	if err != nil {
		return seen{last: err.Error()}
	}
	return seen{
		have: &have, ready: have.Prefill >= r.Prefill && have.Decode >= r.Decode,
		last: fmt.Sprintf("%d of %d prefill and %d of %d decode workers", have.Prefill, r.Prefill, have.Decode, r.Decode),
	}
}

func get(ctx context.Context, url string) (status int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	resp, err := prober.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, body, err
}

// instances counts the generate endpoints of a frontend's health answer by role.
// Aggregated workers count as decode workers.
func instances(body []byte, roles map[string]schema.Role) (event.Count, error) {
	var doc struct {
		Instances []struct {
			Endpoint  string `json:"endpoint"`
			Component string `json:"component"`
		} `json:"instances"`
	}
	if err := json.Unmarshal(body, &doc); err != nil {
		return event.Count{}, fmt.Errorf("health response is not JSON: %w", err)
	}
	var n event.Count
	for _, i := range doc.Instances {
		if i.Endpoint != "generate" {
			continue
		}
		switch roles[i.Component] {
		case schema.Prefill:
			n.Prefill++
		case schema.Decode, schema.Agg:
			n.Decode++
		}
	}
	return n, nil
}

// Wait waits for a command and gives its exit code: 128 and the signal's number
// where one ended it, as a shell has it, and 1 where its end is not known.
func Wait(cmd *exec.Cmd) int {
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 1
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
