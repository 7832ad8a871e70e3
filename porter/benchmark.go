package porter

import (
	"fmt"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// benchmark writes what drives the servers.
func (b *builder) benchmark() {
	b.fixed("observability.enabled", boolean(false), "it would perturb the measurement")
	b.fixed("benchmark.type", plain("agentperf"), "the client of the harness")
	b.recipe("benchmark.client_placement", plain("last_decode"), Default, "fixed", "away from frontend and prefill, which are busiest")
	b.ask(Confirm, Recipe, "benchmark.client_placement", "", "review where the client runs: the harness's own choice is not recorded")
	list, class, rule, ev := b.concurrency()
	if len(list) == 1 {
		b.recipe("benchmark.concurrency", list[0], class, rule, "", ev...)
	} else {
		b.recipe("benchmark.concurrencies", flowList(list...), class, rule, "", ev...)
	}
	b.clientDir()
	b.clientConfig()
	b.clientFlags()
}

func (b *builder) clientDir() {
	const base = "benchmark.agentperf_client_dir"
	dir := b.client.checkout
	if dir.value == "" {
		b.recipe(base, plain("/TODO/agentperf-client"), Missing, "placeholder", "client_cmds_base.sh shows no cd before run.py")
		b.ask(MustFix, Recipe, base, "", "the client checkout is not known: give the container path of a pinned checkout")
		return
	}
	text, class, rule, why := b.moved(dir.value)
	b.recipe(base, plain(text), class, rule, why, dir.at)
	say := "confirm that the compute containers can read it"
	if !b.mounted(text) {
		say = "no extra_mount covers it: mount it"
	}
	b.ask(Confirm, Recipe, base, "readable", "a pinned checkout: "+say, dir.at)
	b.askVariable(Recipe, base, text, dir.at)
}

func (b *builder) clientConfig() {
	const base = "benchmark.agentperf_config"
	if b.opt.WorkloadOut == "" {
		b.recipe(base, plain("/TODO/workload.yaml"), Missing, "placeholder", "the workload file has no path yet")
		b.ask(MustFix, Recipe, base, "", "give the container path of the workload file")
		return
	}
	abs, err := filepath.Abs(b.opt.WorkloadOut)
	if err != nil {
		abs = b.opt.WorkloadOut
	}
	text, class, rule, why := b.moved(abs)
	b.recipe(base, plain(text), class, rule, why, Evidence{Artifact: "command line", Key: "--workload-out", Raw: abs})
	say := "confirm that the containers see the workload file at this path"
	if !b.mounted(text) {
		say = "no extra_mount covers the workload file: mount its folder, or write it below a mounted one"
	}
	b.ask(Confirm, Recipe, base, "visible", say)
}

// clientFlags hands further flags of the old client command to the bench step,
// which splits them at spaces and knows no quotes.
func (b *builder) clientFlags() {
	if len(b.client.flags) == 0 {
		return
	}
	const base = "benchmark.env"
	for _, w := range b.client.flags {
		if w.text == "" || strings.ContainsAny(w.text, " \t\n") {
			b.ask(MustFix, Recipe, base+".AGENTPERF_EXTRA_ARGS", "spaces", fmt.Sprintf("the client's argument %q can't be passed on: the bench step splits at spaces", clip(w.text, 60)), b.client.at)
		}
	}
	b.put(Field{
		File: Recipe, base: base, sub: keys("AGENTPERF_EXTRA_ARGS"), node: quoted(joinWords(b.client.flags)),
		Class: Translated, Rule: "flags of the old client command", Why: "the bench step passes the others itself", Evidence: []Evidence{b.client.at},
	})
}

// workloadFields writes the client's own file: the ported keys in their order,
// then what only its left-over configuration holds.
func (b *builder) workloadFields() {
	b.put(work("base_url", plain("http://placeholder:8000/v1"), Default, "fixed", "overridden at run time"))
	b.put(work("api_key", plain("dummy"), Default, "fixed", "no key is needed, and none is carried over"))
	b.put(work("model", plain("placeholder"), Default, "fixed", "overridden at run time"))
	b.fromBanner("server_type", "Server type", plain(schema.TRTLLM), asText)
	b.workloadLevels()
	b.fromBanner("phase_timeout_seconds", "Phase Timeout", number("3600.0"), asSeconds)
	b.settling()
	b.dataset("trajectory_path", "trajectories.jsonl")
	b.dataset("user_assignments_path", "user_assignments.json")
	b.fromBanner("max_starting_line_offset", "Max ISL offset", number("10"), asNumber)
	b.fromBanner("seed", "Seed", number("42"), asNumber)
	b.fromBanner("timeout_seconds", "", number("300.0"), nil)
	b.fromBanner("max_workers", "Max workers", number("8"), asNumber)
	b.fromBanner("max_tokens", "Max tokens", number("16384"), asNumber)
	b.fromBanner("reasoning_effort", "Reasoning effort", null(), asText)
	b.fromBanner("client_impl", "", plain("rust"), nil)
	b.fromBanner("send_conversation_routing_headers", "Conversation routing headers", boolean(false), asSwitch)
	b.fromBanner("use_dynamo_conv_aware_routing", "Dynamo conv-aware routing (X-Dynamo-Session-ID)", boolean(false), asSwitch)
	b.fromBanner("power_dcgm_url", "", null(), nil)
	b.furtherKeys()
	b.bannerNotes()
}

func work(key string, node *yaml.Node, c Class, rule, why string, ev ...Evidence) Field {
	return Field{File: Workload, sub: keys(key), node: node, Class: c, Rule: rule, Why: why, Evidence: ev}
}

// Readers of a banner value. rule names what was changed; nil means the value
// makes no sense.

func asText(s string) (*yaml.Node, string) {
	if s == "None" || s == "null" || s == "" {
		return null(), "None → null"
	}
	return plain(s), ""
}

func asNumber(s string) (*yaml.Node, string) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 18 || strings.Trim(digits, "0123456789") != "" {
		return nil, ""
	}
	return number(s), ""
}

func asSeconds(s string) (*yaml.Node, string) {
	digits, ok := strings.CutSuffix(s, "s")
	if strings.Trim(digits, "0123456789.") != "" || strings.Count(digits, ".") > 1 || strings.Trim(digits, ".") != digits || digits == "" || len(digits) > 18 {
		return nil, ""
	}
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	if ok {
		return number(digits), "unit s taken off"
	}
	return number(digits), ""
}

func asSwitch(s string) (*yaml.Node, string) {
	switch strings.ToLower(s) {
	case "enabled", "on":
		return boolean(true), s + " → true"
	case "disabled", "off":
		return boolean(false), s + " → false"
	case "true", "false":
		return boolean(strings.EqualFold(s, "true")), ""
	}
	return nil, ""
}

// fromBanner writes a key from the client's left-over configuration, else from
// the banner, else its fallback.
func (b *builder) fromBanner(key, label string, fallback *yaml.Node, read func(string) (*yaml.Node, string)) {
	var shown *yaml.Node
	var rule string
	v, ok := b.banner.values[label]
	if ok && read != nil {
		if shown, rule = read(v.value); shown == nil {
			b.ask(Confirm, Workload, key, "banner", fmt.Sprintf("the banner shows %q, which makes no sense here: set it", clip(v.value, 40)), v.at)
		}
	}
	if node, ev, ok := b.configured(key); ok {
		evs := []Evidence{ev}
		if shown != nil {
			evs = append(evs, v.at)
			b.compare(key, node, shown, label, ev, v.at)
		}
		b.put(work(key, node, Copied, "", "the client's own configuration goes before its banner", evs...))
		return
	}
	switch {
	case shown == nil && read == nil:
		b.put(work(key, fallback, Default, "fixed", "no artifact shows it"))
	case shown == nil:
		b.put(work(key, fallback, Default, "fallback", "the banner does not show "+label))
		if len(b.banner.values) > 0 && !ok {
			b.ask(Note, Workload, key, "fallback", fmt.Sprintf("the banner does not show %q: a fallback is written", label))
		}
	case rule != "":
		b.put(work(key, shown, Translated, rule, "", v.at))
	default:
		b.put(work(key, shown, Copied, "", "", v.at))
	}
}

// configured is a key of the client's left-over configuration.
func (b *builder) configured(key string) (*yaml.Node, Evidence, bool) {
	if b.config == nil {
		return nil, Evidence{}, false
	}
	leaf, ok := b.config.find(key)
	if !ok {
		return nil, Evidence{}, false
	}
	return leaf.node, b.config.ev(b.configName, leaf), true
}

// compare reports where the configuration and another source disagree.
func (b *builder) compare(key string, node, shown *yaml.Node, label string, ev, shownAt Evidence) {
	if node.Value == shown.Value || sameNumber(node.Value, shown.Value) || node.Tag == "!!null" && shown.Tag == "!!null" {
		return
	}
	b.ask(Confirm, Workload, key, "disagrees", fmt.Sprintf("%s says %s, %q says %s: the former is written, confirm", b.configName, flowText(node), label, flowText(shown)), ev, shownAt)
}

func (b *builder) bannerNotes() {
	for _, n := range []struct{ label, want, say string }{
		{"Tool-call delays", "enabled", "tool-call delays were switched off in the old run: pass the client's flag for it in AGENTPERF_EXTRA_ARGS"},
		{"Power sampling", "disabled", "the old client sampled power; power_dcgm_url is not in the banner: set it to sample again"},
	} {
		if v, ok := b.banner.values[n.label]; ok && v.value != n.want {
			b.ask(Confirm, Workload, "", n.label, n.say, v.at)
		}
	}
}
