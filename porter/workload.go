package porter

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// Workload keys of the datasets, and the banner label of the user assignments.
const (
	trajectoriesKey   = "trajectory_path"
	assignmentsKey    = "user_assignments_path"
	bannerAssignments = "User assignments"
)

// workloadFields sets the keys of the workload: the known ones in order, then those that only the
// client's own configuration has.
func (p *porting) workloadFields() {
	p.setWorkload("base_url", plain("http://placeholder:8000/v1"), fixed("overridden at run time"))
	p.setWorkload("api_key", plain("dummy"), fixed("no key is needed; none is carried over"))
	p.setWorkload("model", plain("placeholder"), fixed("overridden at run time"))
	p.fromBanner("server_type", "Server type", plain(schema.TRTLLM), asText)
	p.workloadLevels()
	p.fromBanner("phase_timeout_seconds", "Phase Timeout", number("3600.0"), asSeconds)
	p.settlingField()
	p.datasetField(trajectoriesKey, "trajectories.jsonl")
	p.datasetField(assignmentsKey, "user_assignments.json")
	p.fromBanner("max_starting_line_offset", "Max ISL offset", number("10"), asNumber)
	p.fromBanner("seed", "Seed", number("42"), asNumber)
	p.fromBanner("timeout_seconds", "", number("300.0"), nil)
	p.fromBanner("max_workers", "Max workers", number("8"), asNumber)
	p.fromBanner("max_tokens", "Max tokens", number("16384"), asNumber)
	p.fromBanner("reasoning_effort", "Reasoning effort", null(), asText)
	p.fromBanner("client_impl", "", plain("rust"), nil)
	p.fromBanner("send_conversation_routing_headers", "Conversation routing headers", boolean(false), asBool)
	p.fromBanner("use_dynamo_conv_aware_routing", "Dynamo conv-aware routing (X-Dynamo-Session-ID)",
		boolean(false), asBool)
	p.fromBanner("power_dcgm_url", "", null(), nil)
	p.remainingKeys()
	p.askBannerSettings()
}

// The following functions parse a banner value. rule names the change to it; node is nil if the
// value is invalid.

func asText(s string) (node *yaml.Node, rule string) {
	if s == "None" || s == "null" || s == "" {
		return null(), "None → null"
	}
	return plain(s), ""
}

var (
	wholeNumber = regexp.MustCompile(`^-?\d{1,18}$`)
	decimals    = regexp.MustCompile(`^\d+(\.\d+)?$`)
)

func asNumber(s string) (node *yaml.Node, rule string) {
	if !wholeNumber.MatchString(s) {
		return nil, ""
	}
	return number(s), ""
}

func asSeconds(s string) (node *yaml.Node, rule string) {
	digits, ok := strings.CutSuffix(s, "s")
	if !decimals.MatchString(digits) || len(digits) > 18 {
		return nil, ""
	}
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	if ok {
		rule = "unit s removed"
	}
	return number(digits), rule
}

func asBool(s string) (node *yaml.Node, rule string) {
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

// fromBanner sets a key from the client's configuration, the banner or a fallback, in this order.
func (p *porting) fromBanner(key, label string, otherwise *yaml.Node, read func(string) (*yaml.Node, string)) {
	var shown *yaml.Node
	var rule string
	v, ok := p.run.Banner.Values[label]
	if ok && read != nil {
		if shown, rule = read(v.Text); shown == nil {
			p.ask(Confirm, Workload, key, "banner", evidence(v.At),
				"the banner shows %q, which is not a valid value: set it", safetext.Clip(v.Text, 40))
		}
	}
	if node, ev, ok := p.configValue(key); ok {
		evs := []Evidence{ev}
		if shown != nil {
			evs = append(evs, v.At)
			p.askDisagreement(key, node, shown, label, ev, v.At)
		}
		p.setWorkload(key, node, p.configOrigin("the client's configuration takes precedence over its banner", evs...))
		return
	}
	switch {
	case shown == nil && read == nil:
		p.setWorkload(key, otherwise, fixed("no artifact shows it"))
	case shown == nil:
		p.setWorkload(key, otherwise, fallback("no banner shows "+label))
		if !ok {
			p.askFallback(key)
		}
	case rule != "":
		p.setWorkload(key, shown, translated(rule, "", v.At))
	default:
		p.setWorkload(key, shown, copied(v.At))
	}
}

// askFallback asks about a key that the banner should show, once for all of them.
func (p *porting) askFallback(key string) {
	const decision = "banner"
	b := p.run.Banner
	t := Todo{Kind: Confirm, File: Workload, Fields: []string{key}}
	topic := decision
	log := p.artifact(harness.ClientLog)
	switch lines := fmt.Sprintf("the banner in %s (lines %d to %d)", log.Name, b.First, b.Last); {
	case len(b.Values) > 0 && b.Complete:
		t.Message = lines + " does not show all settings"
	case b.Cut.Line > 0:
		t.Message = fmt.Sprintf("%s is incomplete: the file ends within line %d", lines, b.Cut.Line)
		if b.Cut.Raw != "" {
			t.Message += " (" + safetext.Clip(b.Cut.Raw, 60) + ")"
		}
	case len(b.Values) > 0:
		t.Message = lines + " is incomplete"
	case log.Problem != "":
		topic, t.Message = harness.ClientLog, log.Name+": "+log.Problem
	default:
		topic, t.Message = harness.ClientLog, log.Name+" shows no banner"
	}
	t.Evidence = evidence(Evidence{Artifact: log.Name, Line: b.First})
	if b.Cut.Line > 0 {
		t.Evidence = evidence(b.Cut)
	}
	t.Message += ": confirm the default values of the settings that only the banner shows"
	p.askOnce(decision, topic, t)
}

// askDisagreement asks about a key if the configuration and another source disagree.
func (p *porting) askDisagreement(key string, node, shown *yaml.Node, label string, ev, shownAt Evidence) {
	if node.Value == shown.Value || sameNumber(node.Value, shown.Value) || node.Tag == "!!null" && shown.Tag == "!!null" {
		return
	}
	p.ask(Confirm, Workload, key, "disagrees", evidence(ev, shownAt),
		"%s has %s, but %q shows %s: the former is written; confirm", p.run.Config.Artifact, yamldoc.Text(node), label,
		yamldoc.Text(shown))
}

func sameNumber(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x == y
}

// workloadLevels sets the concurrency levels of the recipe. They are overridden at run time, but
// must be valid.
func (p *porting) workloadLevels() {
	const key = "concurrencies"
	i := slices.IndexFunc(p.res.Fields, func(f Field) bool { return f.base == levelField || f.base == levelsField })
	if i < 0 {
		return
	}
	f := p.res.Fields[i]
	list := f.node
	if list.Kind == yaml.ScalarNode {
		list = flowList(f.node)
	}
	if node, ev, ok := p.configValue(key); ok && yamldoc.Text(node) != yamldoc.Text(list) {
		p.ask(Note, Workload, key, "disagrees", evidence(ev),
			"%s has %s, but %s is written", p.run.Config.Artifact, yamldoc.Text(node), yamldoc.Text(list))
	}
	const why = "a placeholder; the recipe's levels are used at run time"
	p.setWorkload(key, list, origin{f.Class, f.Rule, why, f.Evidence})
}

// settlingField sets the settling time from the names of the output files.
func (p *porting) settlingField() {
	const key = "settling_time_seconds"
	var at []Evidence
	var values []string
	for _, v := range p.run.Settling {
		if !slices.Contains(values, v.Text) {
			values, at = append(values, v.Text), append(at, v.At)
		}
	}
	node, ev, configured := p.configValue(key)
	switch {
	case configured:
		p.setWorkload(key, node, p.configOrigin("the client's configuration takes precedence over the names of its outputs",
			append([]Evidence{ev}, at...)...))
		if len(values) > 0 && !sameNumber(values[0], node.Value) {
			p.askDisagreement(key, node, number(values[0]), "settle in the output's name", ev, at[0])
		}
	case len(values) == 0:
		p.setWorkload(key, number("240.0"), fallback("no output file shows it"))
		p.ask(Confirm, Workload, key, "", nil, "no output file shows the settling time: confirm the fallback")
	default:
		seconds, _ := asSeconds(values[0])
		if seconds == nil {
			seconds = number("240.0")
		}
		p.setWorkload(key, seconds, translated("settle<S>s in the names of the outputs", "", at...))
	}
	if len(values) < 2 {
		return
	}
	few := values[:min(len(values), 16)]
	t := Todo{
		Kind: Confirm, File: Workload, Path: key, Evidence: at[:len(few)],
		Message: "phases had different settling times (" + strings.Join(few, ", ") + " s), but a workload has one: choose",
	}
	for _, v := range few {
		t.Candidates = append(t.Candidates, Candidate{Value: v})
	}
	p.addTodo("phases", t)
}

// remainingKeys carries over all other keys of the client's configuration, such as the spawn rate,
// stop criteria and unknown keys.
func (p *porting) remainingKeys() {
	config := p.run.Config
	if config == nil {
		return
	}
	ported := map[string]bool{}
	for _, f := range schema.Workload().Fields()[:schema.PortedWorkloadKeys] {
		ported[f.Name()] = true
	}
	for _, leaf := range config.Leaves {
		key, ev := leaf.Keys[0].Value, config.At(leaf)
		switch {
		case ported[key]:
		case key == "results_dir":
			p.drop("workload", key, "drop", "the bench step sets it", ev)
		default:
			node, from := p.rewriteNode(leaf.Node, ev)
			p.setField(Workload, "", leaf.Keys, node, from)
		}
	}
}

func (p *porting) askBannerSettings() {
	for _, n := range []struct {
		label string
		want  bool
		text  string
	}{
		{
			"Tool-call delays", true, "tool-call delays were disabled in the old run: " +
				"pass the client's flag for it in AGENTPERF_EXTRA_ARGS",
		},
		{
			"Power sampling", false, "the old client sampled power; power_dcgm_url is not in the banner: " +
				"set it to sample again",
		},
	} {
		if v, ok := p.run.Banner.Values[n.label]; ok {
			switch on, _ := asBool(v.Text); {
			case on == nil:
				p.ask(Confirm, Workload, "", n.label, evidence(v.At), "the banner shows %s as %q, which is neither on nor off: "+
					"check what the new job needs", n.label, safetext.Clip(v.Text, 40))
			case on.Value != boolean(n.want).Value:
				p.ask(Confirm, Workload, "", n.label, evidence(v.At), "%s", n.text)
			}
		}
	}
	if v := p.run.Banner.Values["Connection pool"]; v.Text != "" && !strings.Contains(v.Text, "auto-sized") {
		p.ask(Confirm, Workload, "", "Connection pool", evidence(v.At), "the banner shows the connection pool %q, which the "+
			"client did not choose itself: check what the new job needs", safetext.Clip(v.Text, 60))
	}
	for _, v := range p.run.Banner.Unknown {
		p.ask(Confirm, Workload, "", "banner "+v.At.Key, evidence(v.At), "the banner shows %s as %q, which is no known "+
			"setting and is not carried over: check what the new job needs", safetext.Clip(v.At.Key, 60),
			safetext.Clip(secret.Redact(v.At.Key, v.Text), 60))
	}
}
