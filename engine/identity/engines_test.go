package identity

import (
	"maps"
	"testing"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// The engine configs of a run are those of its launcher, as an engine reads them.
func TestEngineConfigs(t *testing.T) {
	t.Parallel()
	value := func(role schema.Role, path string) EngineValue { return EngineValue{role, path} }
	for _, c := range []struct {
		files map[string]string
		want  map[EngineValue]string
		roles int
	}{
		{nil, map[EngineValue]string{}, 0},
		{
			map[string]string{"ctx_config.yaml": "a: 0x10\nb: {c: on, d: 1.50}\n", "gen_config.yaml": "{}\n"},
			map[EngineValue]string{
				value(schema.Prefill, "a"): "16", value(schema.Prefill, "b.c"): "true", value(schema.Prefill, "b.d"): "1.5",
			},
			2,
		},
		{
			map[string]string{
				"logs/trtllm_config_prefill.yaml": "a: '16'\n", "ctx_config.yaml": "a: 17\n",
				"logs/trtllm_config_agg.yaml": "l: [1_0, x]\n",
			},
			map[EngineValue]string{value(schema.Prefill, "a"): `'16'`, value(schema.Agg, "l"): "[10, x]"},
			2,
		},
		{
			map[string]string{"logs/trtllm_config_decode.yaml": "a: [\n", "gen_config.yaml": "a: 1\n"},
			map[EngineValue]string{},
			0,
		},
	} {
		dir := t.TempDir()
		write(t, dir+"/logs/x", "")
		for name, text := range c.files {
			write(t, dir+"/"+name, text)
		}
		in, err := ReadInputs(t.Context(), dir, dir+"/logs")
		if err != nil || !maps.Equal(in.Engines.Values, c.want) || len(in.Engines.Roles) != c.roles {
			t.Errorf("%v: got %+v, %v, want %v", c.files, in.Engines, err, c.want)
		}
	}
}

func TestPublishing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ plan, want string }{
		{"", ""},
		{`{"steps": []}`, ""},
		{`{"steps": [{"role": "frontend", "argv": ["--publish-x"]}]}`, ""},
		{`{"steps": [{"role": "etcd", "argv": ["a"]}, {"role": "prefill", "argv": ["a", "--b"]}]}`, NotPublished},
		{`{"steps": [{"role": "decode", "argv": ["a", "--publish-metrics"]}]}`, "--publish-metrics"},
		{`{"steps": [{"role": "agg", "argv": ["--publish-events-and-metrics"]}]}`, "--publish-events-and-metrics"},
	} {
		dir := t.TempDir()
		write(t, dir+"/logs/x", "")
		if c.plan != "" {
			write(t, dir+"/plan.json", c.plan)
		}
		in, err := ReadInputs(t.Context(), dir, dir+"/logs")
		if err != nil || in.Publishing != c.want {
			t.Errorf("%s: got %q, %v, want %q", c.plan, in.Publishing, err, c.want)
		}
	}
}
