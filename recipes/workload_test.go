package recipes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const workload = `base_url: http://placeholder:8000/v1
model: placeholder
concurrencies: [1010]
phase_timeout_seconds: %s
settling_time_seconds: 240.0
trajectory_path: /d/t.jsonl
`

func loadWorkload(t *testing.T, timeout, more string) *Workload {
	t.Helper()
	w, ds := ParseWorkload("w.yaml", []byte(fmt.Sprintf(workload, timeout)+more))
	if w == nil {
		t.Fatal(ds)
	}
	return w
}

func TestTimeoutRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, timeout, more string
		level               int
		known, ok           bool
		slack               float64
		fixes               []string
	}{
		{"the c1010 run", "2400.0", "", 1010, true, true, 851, nil},
		{"equality holds", "1549", "", 1010, true, true, 0, nil},
		{"one second short", "1548.0", "", 1010, true, false, -1, []string{
			"phase_timeout_seconds ≥ 1549", "user_spawn_rate ≥ 1.001", "settling_time_seconds ≤ 239",
			"min_measurement_seconds ≤ 299", "concurrency ≤ 1009",
		}},
		{"one user needs no ramp", "540", "", 1, true, true, 0, nil},
		{
			"exact where floats are not", "543.0", "user_spawn_rate: 0.3\nmin_measurement_seconds: 299.6666666666\n", 2, true,
			true, 0, nil,
		},
		{"only a longer timeout helps", "100", "", 1010, true, false, -1449, []string{"phase_timeout_seconds ≥ 1549"}},
		{"empty is unknown", "", "", 1010, false, false, 0, nil},
		{"text is unknown", "soon", "", 1010, false, false, 0, nil},
		{"zero rate is unknown", "2400", "user_spawn_rate: 0\n", 1010, false, false, 0, nil},
		{"huge exponent is unknown", "1e999999999", "", 1010, false, false, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := CheckTimeouts(loadWorkload(t, c.timeout, c.more), []int{c.level})[0]
			var fixes []string
			for _, k := range got.Fixes {
				fixes = append(fixes, k.String())
			}
			if got.Known != c.known || got.OK != c.ok || !slices.Equal(fixes, c.fixes) {
				t.Errorf("got %+v", got)
			}
			if diff := got.Slack - c.slack; diff > 1e-9 || diff < -1e-9 {
				t.Errorf("slack %v, want %v", got.Slack, c.slack)
			}
		})
	}
}

// Each fix alone satisfies the rule; a change that is smaller by one unit of the printed
// precision does not.
func TestTimeoutFixesAreMinimal(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"user_spawn_rate": "1", "min_measurement_seconds": "300"}
	w := func(set map[string]string) *Workload {
		vals := map[string]string{"phase_timeout_seconds": "1500.5", "settling_time_seconds": "240"}
		for k, v := range keys {
			vals[k] = v
		}
		for k, v := range set {
			vals[k] = v
		}
		text := "base_url: http://p:1/v1\nmodel: p\nconcurrencies: [1]\ntrajectory_path: /t\n"
		for k, v := range vals {
			text += k + ": " + v + "\n"
		}
		out, _ := ParseWorkload("w", []byte(text))
		return out
	}
	first := CheckTimeouts(w(nil), []int{1010})[0]
	if first.OK || len(first.Fixes) != 5 {
		t.Fatalf("want five fixes, got %+v", first)
	}
	for _, k := range first.Fixes {
		if k.Key == "concurrency" {
			if !CheckTimeouts(w(nil), []int{961})[0].OK || CheckTimeouts(w(nil), []int{962})[0].OK || k.Value != "961" {
				t.Errorf("concurrency fix %s", k)
			}
			continue
		}
		if !CheckTimeouts(w(map[string]string{k.Key: k.Value}), []int{1010})[0].OK {
			t.Errorf("fix %s does not satisfy the rule", k)
		}
		var v float64
		if _, err := fmt.Sscan(k.Value, &v); err != nil {
			t.Fatal(err)
		}
		step := 0.001
		if k.Op == "≥" {
			step = -step
		}
		if CheckTimeouts(w(map[string]string{k.Key: fmt.Sprintf("%.4f", v+step)}), []int{1010})[0].OK {
			t.Errorf("fix %s is not the smallest", k)
		}
	}
}

func TestLargestLevelIsBinding(t *testing.T) {
	t.Parallel()
	cs := CheckTimeouts(loadWorkload(t, "1500", ""), []int{64, 1010, 128})
	if !cs[0].OK || cs[1].OK || !cs[2].OK || cs[0].Binding || !cs[1].Binding || cs[2].Binding {
		t.Errorf("got %+v", cs)
	}
}

func TestWorkloadKeepsUnknownKeysAndWarns(t *testing.T) {
	t.Parallel()
	w, ds := ParseWorkload("w.yaml", []byte(fmt.Sprintf(workload, "2400.0")+"brand_new: 1\nseeed: 2\n"))
	if ds.Errors() != 0 || ds.Warnings() != 2 || !strings.Contains(ds[1].Message, `"seed"`) {
		t.Errorf("got %v", ds)
	}
	out, err := w.With([]Var{{Name: "concurrencies", Value: "[4, 8]"}, {Name: "seed", Value: "7"}})
	if err != nil {
		t.Fatal(err)
	}
	again, ds := ParseWorkload("w.yaml", out)
	if again == nil || !slices.Equal(again.Levels, []int{4, 8}) || again.Seed != 7 || again.PhaseTimeout.Text != "2400.0" {
		t.Errorf("rewritten workload %s: %v", out, ds)
	}
	if !strings.Contains(string(out), "brand_new: 1") {
		t.Errorf("an unknown key was lost:\n%s", out)
	}
}

func FuzzParseWorkload(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(workload, "2400.0")))
	f.Add([]byte("concurrencies: [1, x]\nphase_timeout_seconds: 0x1F\nuser_spawn_rate: .5\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w, ds := ParseWorkload("f", data)
		if w == nil {
			if ds.Errors() == 0 {
				t.Error("neither a workload nor an error")
			}
			return
		}
		for _, c := range CheckTimeouts(w, []int{1, 1010}) {
			if c.OK && !c.Known {
				t.Errorf("unknown and ok: %+v", c)
			}
			_ = c.Summary()
		}
	})
}
