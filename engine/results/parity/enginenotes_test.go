package parity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// engines returns engine configs from lines such as prefill a 1; a role alone has an empty config.
func engines(lines ...string) identity.EngineConfigs {
	out := identity.EngineConfigs{Values: map[identity.EngineValue]string{}}
	for _, l := range lines {
		role, rest, _ := strings.Cut(l, " ")
		if !slices.Contains(out.Roles, schema.Role(role)) {
			out.Roles = append(out.Roles, schema.Role(role))
		}
		if path, value, ok := strings.Cut(rest, " "); ok {
			out.Values[identity.EngineValue{Role: schema.Role(role), Path: path}] = value
		}
	}
	return out
}

// Differences of engine configs are told, and those that srtctl's defaults make are told apart.
func TestEngineNotes(t *testing.T) {
	t.Parallel()
	const off, on = " enable_iter_perf_stats false", " enable_iter_perf_stats true"
	var many []string
	for i := range 15 {
		many = append(many, fmt.Sprintf("decode k%02d 1", i))
	}
	for _, c := range []struct {
		ref, cand []string
		want      []string
	}{
		{nil, nil, nil},
		{[]string{"prefill a 1"}, []string{"prefill a 1"}, nil},
		{[]string{"prefill a 1"}, nil, []string{"engine configs not compared because unknown for at least one side"}},
		{
			[]string{"prefill a 1"},
			[]string{"agg a 1"},
			[]string{"engine configs not compared because unknown for at least one side"},
		},
		{
			[]string{"prefill a 1", "decode a 1"},
			[]string{"prefill a 1", "prefill" + off, "decode a 1", "decode" + off},
			[]string{"engine configs: only those of the candidate have enable_iter_perf_stats: false (decode, prefill), " +
				"a default that srtctl and this program add"},
		},
		{
			[]string{"agg" + off},
			[]string{"agg"},
			[]string{"engine configs: only those of the reference have enable_iter_perf_stats: false (agg), " +
				"a default that srtctl and this program add"},
		},
		{
			[]string{"agg"},
			[]string{"agg" + on},
			[]string{"engine configs differ: agg enable_iter_perf_stats not set vs. true"},
		},
		{
			[]string{"agg" + off},
			[]string{"agg" + on},
			[]string{"engine configs differ: agg enable_iter_perf_stats false vs. true"},
		},
		{
			[]string{"agg a 1", "agg b.c x", "agg api_key s3cr3t-one"},
			[]string{"agg a 2", "agg d [1]", "agg api_key s3cr3t-two"},
			[]string{"engine configs differ: agg a 1 vs. 2, agg api_key ‹hidden› vs. ‹hidden›, agg b.c x vs. not set, " +
				"agg d not set vs. [1]"},
		},
		{
			many,
			[]string{"decode"},
			[]string{"engine configs differ: decode k00 1 vs. not set, "},
		},
	} {
		ref, cand := side(t, someFigures), side(t, someFigures)
		ref.Inputs.Engines, cand.Inputs.Engines = engines(c.ref...), engines(c.cand...)
		var got []string
		for _, n := range Compare(ref, cand, Options{}).Notes {
			if strings.HasPrefix(n, "engine configs") {
				got = append(got, n)
			}
		}
		more := strings.HasSuffix(strings.Join(got, "\n"), ", and 3 more")
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) || more != (len(c.ref) == len(many)) {
			t.Errorf("%v and %v: got %q, want %q", c.ref, c.cand, got, c.want)
		}
	}
}

// The flags with which workers publish metrics are compared if one side is known.
func TestPublishingProperty(t *testing.T) {
	t.Parallel()
	const flag = "--publish-metrics"
	for _, c := range []struct{ ref, cand, state, note string }{
		{"", "", "", ""},
		{flag, "", Unknown, "settings not checked because unknown for at least one side: metrics of workers"},
		{flag, flag, Same, ""},
		{identity.NotPublished, flag, Different, "settings differ: metrics of workers none vs. --publish-metrics"},
	} {
		ref, cand := side(t, someFigures), side(t, someFigures)
		ref.Inputs.Publishing, cand.Inputs.Publishing = c.ref, c.cand
		got := Compare(ref, cand, Options{})
		state := ""
		for _, p := range got.Properties {
			if p.Name == "metrics of workers" {
				state = p.State
			}
		}
		if notes := strings.Join(got.Notes, "\n"); state != c.state || !strings.Contains(notes, c.note) {
			t.Errorf("%+v: %s, notes %s", c, state, notes)
		}
	}
}
