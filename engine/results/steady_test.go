package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// loadRows returns the rows of 60 users over 600 s whose TTFT and output tokens depend on
// the time since the start of the window, from 0 to 1.
func loadRows(seed uint64, ttft, output func(at float64) float64) []string {
	random := rand.New(rand.NewPCG(seed, 1))
	var rows []string
	for i := range 6000 {
		at := float64(i) / 6000
		noise := math.Exp(0.3 * random.NormFloat64())
		rows = append(rows, fmt.Sprintf(`{"phase_idx":0,"concurrency":60,"conversation_id":"c%d","conversation_idx":%d,`+
			`"user_id":%d,"request_id":"r%d","start_time":%g,"end_time":%g,"server_input_tokens":100,`+
			`"server_output_tokens":%d,"server_cached_tokens":40,"ttft":%g,"itl":0.01,"sse_output_speed":90,"success":true}`,
			i%40, i/40, i%60, i, 1000+600*at, 1000+600*at+5, int(output(at)*100*noise), ttft(at)*noise))
	}
	return rows
}

func constant(v float64) func(float64) float64 { return func(float64) float64 { return v } }

func TestSteadyState(t *testing.T) {
	t.Parallel()
	rampUp := func(at float64) float64 { return min(1, 0.5+2.5*at) } // until 20 % of the window
	for _, tt := range []struct {
		name         string
		ttft, output func(float64) float64
		drift        bool
		most, least  float64 // of the settling that would have sufficed, s
	}{
		{"steady", constant(0.2), constant(1), false, 0, 0},
		{"throughput grows in the first fifth", constant(0.2), rampUp, true, 200, 20},
		{"TTFT grows in the first fifth", func(at float64) float64 { return 0.2 * rampUp(at) }, constant(1), true, 200, 20},
		{"throughput grows throughout", constant(0.2), func(at float64) float64 { return 1 + at }, true, 0, 0},
		{"throughput falls throughout", constant(0.2), func(at float64) float64 { return 2 - at }, true, 0, 0},
		{"a change of 2 %", constant(0.2), func(at float64) float64 { return 1 + at*0.02 }, false, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := only(
				t,
				aggregate(
					t,
					`{"phase_idx":0,"settling_end":1000,"actual_phase_end":1605}`,
					"",
					loadRows(7, tt.ttft, tt.output)...),
			)
			s := p.Steady
			if s == nil || s.Drift != tt.drift {
				t.Fatalf("%+v", s)
			}
			if more := float64(s.MoreSettling); tt.most > 0 && !(tt.least <= more && more <= tt.most) ||
				tt.most == 0 && !math.IsNaN(more) {
				t.Errorf("%g s more settling: %s", more, s.Text())
			}
			if marked := strings.Contains(strings.Join(p.Warnings, "\n"), "not in a steady state"); marked != tt.drift {
				t.Errorf("warnings %q", p.Warnings)
			}
			if f := p.Figures.Get(Primary); f.Class != Exact {
				t.Errorf("class %s", f.Class)
			}
		})
	}
}

// Steady windows must not be marked: at most 1 % of those with noise alone.
func TestSteadyStateFalseAlarms(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	alarms := 0
	const runs = 2000
	for range runs {
		values := make([]float64, 30)
		for i := range values {
			values[i] = math.Exp(0.3 * random.NormFloat64())
		}
		if drifts(values, driftChange) || drifts(values, ttftChange) {
			alarms++
		}
	}
	if alarms > runs/100 {
		t.Errorf("%d of %d steady windows are marked", alarms, runs)
	}
}

func TestSteadyStateNeedsRequests(t *testing.T) {
	t.Parallel()
	p := only(t, aggregate(t, window, "", line(0, 110, "")))
	if p.Steady != nil {
		t.Errorf("with one request: %+v", p.Steady)
	}
}
