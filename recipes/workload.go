package recipes

import (
	"fmt"
	"math/big"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Workload is the client's workload file. The client's command line overrides base_url,
// model and concurrencies; the client uses all other values from the file.
type Workload struct {
	File string

	BaseURL                string   `path:"base_url"`
	APIKey                 string   `path:"api_key"`
	Model                  string   `path:"model"`
	ServerType             string   `path:"server_type"`
	Levels                 []int    // placeholder; the recipe's levels override it
	PhaseTimeout           Quantity `path:"phase_timeout_seconds"`
	Settling               Quantity `path:"settling_time_seconds"`
	SpawnRate              Quantity `path:"user_spawn_rate"`
	MinMeasurement         Quantity `path:"min_measurement_seconds"`
	MinTotalTrajectories   Quantity `path:"min_total_trajectories"`
	MinTrajectoriesPerUser Quantity `path:"min_trajectories_per_user"`
	TrajectoryPath         string   `path:"trajectory_path"`
	AssignmentsPath        string   `path:"user_assignments_path"`
	MaxStartingOffset      int      `path:"max_starting_line_offset"`
	Seed                   int64    `path:"seed"`
	RequestTimeoutSeconds  float64  `path:"timeout_seconds"`
	MaxTokens              int      `path:"max_tokens"`
	ReasoningEffort        string   `path:"reasoning_effort"` // empty: none
	RoutingHeaders         bool     `path:"send_conversation_routing_headers"`
	DynamoHeaders          bool     `path:"use_dynamo_conv_aware_routing"`
	TrajectoriesPerUser    int      `path:"trajectories_per_user"` // 0: not set

	doc    *Document
	values *values
}

// Datasets returns the dataset files of the workload with their keys. w may be nil.
func (w *Workload) Datasets() []Var {
	if w == nil {
		return nil
	}
	all := []Var{
		{Name: "trajectory_path", Value: w.TrajectoryPath}, {Name: "user_assignments_path", Value: w.AssignmentsPath},
	}
	return slices.DeleteFunc(all, func(d Var) bool { return d.Value == "" })
}

// Quantity is a number with its exact value: from the file, or its default.
type Quantity struct {
	Key      string
	Value    *big.Rat // nil if the file has no valid number
	Text     string   // as in the file, or the default
	Assumed  bool     // the file omits it; Value is the default
	Position Position
}

// Float returns the value as a float64, or 0 if it is unknown.
func (q Quantity) Float() float64 {
	if q.Value == nil {
		return 0
	}
	f, _ := q.Value.Float64()
	return f
}

// LoadWorkload reads a workload file. As with [Load], the error is non-nil only if the file
// can't be read; problems in its content are returned as diagnostics.
func LoadWorkload(path string) (*Workload, Diagnostics, error) {
	data, err := Read(path)
	if err != nil {
		return nil, nil, fmt.Errorf("load workload: %w", err)
	}
	w, diags := ParseWorkload(path, data)
	return w, diags, nil
}

// ParseWorkload is like [LoadWorkload] but parses data. Unknown keys are warnings, since
// the client may know them.
func ParseWorkload(file string, data []byte) (*Workload, Diagnostics) {
	doc, diags := Parse(file, data)
	if doc.Root == nil {
		return nil, diags
	}
	v := readValues(doc, schema.Workload(), strictness{reader: "the client", unknownKeys: Warning})
	diags = append(diags, v.diags...)
	diags.Sort()
	w := &Workload{File: file, doc: doc, values: v}
	v.fill(w)
	if val, ok := v.byName["concurrencies"]; ok {
		for _, e := range val.node.Content {
			if r, ok := parseNumber(resolveAlias(e)); ok && r.IsInt() {
				w.Levels = append(w.Levels, int(r.Num().Int64()))
			}
		}
	}
	return w, diags
}

// quantity returns the number at a key, or the default if the key is absent. If the value is
// not a valid number, Value is nil.
func (v *values) quantity(key string) Quantity {
	f, _ := schema.Workload().Field(key)
	q := Quantity{Key: key, Position: Position{Path: key}}
	if at, ok := v.positions[key]; ok {
		q.Position = at
		val, ok := v.byName[key]
		if !ok {
			return q
		}
		q.Text = val.node.Value
		q.Value, _ = parseNumber(val.node)
		return q
	}
	q.Assumed, q.Text = true, f.Default
	q.Value, _ = new(big.Rat).SetString(f.Default)
	return q
}

// Quantity returns the number at a key of the workload.
func (w *Workload) Quantity(key string) Quantity { return w.values.quantity(key) }

// Diag returns a finding about a key of the workload. If the file omits the key, the
// position is the start of the file.
func (w *Workload) Diag(sev Severity, key, message, fix string) Diagnostic {
	p := w.values.nearestPosition(key)
	p.Path = key
	return p.diagnostic(w.File, sev, message, fix)
}

// With returns the workload as YAML with the given keys set to the given YAML values. Keys
// that the file does not have are appended.
func (w *Workload) With(set []Var) ([]byte, error) {
	root := expandAliases(w.doc.Root, 0)
	for _, s := range set {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(s.Value), &n); err != nil || len(n.Content) != 1 {
			return nil, problem.Errorf(problem.ValueInvalid, "set %s in the workload: not a YAML value: %q", s.Name, s.Value)
		}
		done := false
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value == s.Name {
				root.Content[i+1], done = n.Content[0], true
			}
		}
		if !done {
			root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: s.Name}, n.Content[0])
		}
	}
	out, err := yaml.Marshal(root)
	if err != nil {
		return nil, problem.Errorf(problem.YAMLInvalid, "encode workload: %w", err)
	}
	return out, nil
}
