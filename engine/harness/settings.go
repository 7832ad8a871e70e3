package harness

import (
	"context"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
)

// Keys of settings that are no keys of the workload.
const (
	ClientFlags    = "client_flags"
	ToolCallDelays = "tool_call_delays"
)

// settingLabels are the banner labels of settings by their keys of the workload.
var settingLabels = map[string][]string{
	"server_type":                       {"Server type"},
	"phase_timeout_seconds":             {"Phase Timeout"},
	"max_starting_line_offset":          {"Max ISL offset"},
	"seed":                              {"Seed"},
	"max_workers":                       {"Max workers"},
	"max_tokens":                        {"Max tokens"},
	"reasoning_effort":                  {"Reasoning effort"},
	"send_conversation_routing_headers": {"Conversation routing headers"},
	"use_dynamo_conv_aware_routing":     {"Dynamo conv-aware routing (X-Dynamo-Session-ID)"},
	"trajectory_path":                   {LabelTrajectories},
	"user_assignments_path":             {"User assignments", LabelAssignments},
	"model":                             {"Model"},
	ToolCallDelays:                      {"Tool-call delays"},
}

// ReadClient reads the artifacts about the client only: parameters, command, banner, configuration and
// names of outputs. They are small or bounded, unlike the log of the launches. Errors are those of
// [Run.Read].
func (r *Run) ReadClient(ctx context.Context) error {
	r.progress = func(string, int64, int64) {}
	if err := r.readArtifact(ctx, ClientScript, ClientScript, r.parseClient); err != nil {
		return err
	}
	if err := r.readClientLog(ctx); err != nil {
		return err
	}
	if err := r.listOutputs(ctx); err != nil {
		return err
	}
	return r.ReadConfig(ctx, "")
}

// ReadConfig reads a file as the client's own configuration; an empty name selects the one that the
// client's command or the parameters name.
func (r *Run) ReadConfig(ctx context.Context, name string) error {
	r.progress = func(string, int64, int64) {}
	if name != "" {
		return r.readArtifact(ctx, ClientConfig, name, r.parseConfig)
	}
	if err := r.readArtifact(ctx, JobParams, JobParams, r.parseParams); err != nil {
		return err
	}
	return r.readConfig(ctx)
}

// Settings returns what the client's configuration and the banner of its last start show, by keys of
// the workload, in canonical spelling, the preferred source first. Nested keys are joined by dots.
func (r *Run) Settings() map[string][]Value {
	out := map[string][]Value{}
	add := func(key, text string, at Evidence) { out[key] = append(out[key], Value{CanonicalSetting(text), at}) }
	if r.Config != nil {
		for _, l := range r.Config.Leaves {
			text := l.Node.Value
			if l.Node.Kind != yaml.ScalarNode {
				text = yamldoc.Text(l.Node)
			}
			add(l.Path(), text, r.Config.At(l))
		}
	}
	for key, labels := range settingLabels {
		for _, label := range labels {
			if v, ok := r.Banner.Values[label]; ok {
				add(key, v.Text, v.At)
				break
			}
		}
	}
	if r.Client.FlagsAt.Artifact != "" {
		add(ClientFlags, strings.Join(r.Client.Flags, " "), r.Client.FlagsAt)
	}
	return out
}

// ClientCommit returns the commit of the client if its checkout is named after it.
func (r *Run) ClientCommit() (Value, bool) {
	m := checkoutCommit.FindStringSubmatch(path.Base(r.Client.Checkout.Text))
	if m == nil {
		return Value{}, false
	}
	return Value{m[1], r.Client.Checkout.At}, true
}

var checkoutCommit = regexp.MustCompile(`^(?:.*[-_.@])?([0-9a-f]{7,64})$`)

var secondsPattern = regexp.MustCompile(`^(-?\d+)(?:\.(\d+))?s?$`)

// CanonicalSetting returns a value in the spelling in which equal values are equal: numbers without a
// unit and without decimals that are 0, true and false, and null for no value.
func CanonicalSetting(text string) string {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "", "~", "null", "none":
		return "null"
	case "enabled", "on", "true":
		return "true"
	case "disabled", "off", "false":
		return "false"
	}
	if m := secondsPattern.FindStringSubmatch(text); m != nil {
		return strings.TrimSuffix(m[1]+"."+strings.TrimRight(m[2], "0"), ".")
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, "eE") {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return text
}

// OutputStems returns the different stems of the output files of a phase in a directory.
func OutputStems(dir string, phase int) ([]Stem, error) {
	names, err := ListDir(dir, maxOutputs)
	if err != nil {
		return nil, err
	}
	var stems []Stem
	for _, name := range names {
		s, ok := ParseStem(strings.TrimSuffix(name, filepath.Ext(name)))
		if ok && s.Phase == phase && !slices.Contains(stems, s) {
			stems = append(stems, s)
		}
	}
	return stems, nil
}
