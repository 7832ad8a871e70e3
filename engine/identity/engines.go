package identity

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// EngineValue is a value of an engine config.
type EngineValue struct {
	Role schema.Role
	Path string
}

// String returns the value's name, such as prefill max_batch_size.
func (v EngineValue) String() string { return string(v.Role) + " " + v.Path }

// EngineConfigs are the engine configs of a run, as an engine reads them. A role without a file that can be
// read is not among the roles.
type EngineConfigs struct {
	Roles  []schema.Role
	Values map[EngineValue]string
}

// readEngineConfigs reads the engine configs that srtctl and this program write to the log directory, or
// else those of the harness.
func readEngineConfigs(dir, logs string) EngineConfigs {
	out := EngineConfigs{Values: map[EngineValue]string{}}
	for _, role := range []schema.Role{schema.Prefill, schema.Decode, schema.Agg} {
		paths := []string{filepath.Join(logs, "trtllm_config_"+string(role)+".yaml")}
		if role != schema.Agg { // the harness has one file for decode and aggregated workers
			paths = append(paths, filepath.Join(dir, harness.UsualConfig(role)))
		}
		for _, path := range paths {
			data, err := smallfile.Read(path, 1)
			if err != nil {
				continue // a run of another launcher
			}
			doc, err := yamldoc.Read(bytes.NewReader(data))
			if err != nil || len(doc.Problems) > 0 {
				break
			}
			out.Roles = append(out.Roles, role)
			for _, leaf := range doc.Leaves {
				out.Values[EngineValue{role, leaf.Path()}] = yamldoc.Text(recipes.AsPython(leaf.Node))
			}
			break
		}
	}
	return out
}

// NotPublished is the value of Inputs.Publishing for workers that publish nothing.
const NotPublished = "none"

// publishing returns the flag with which the workers of a run publish metrics, from its plan.
func publishing(dir string) string {
	var p struct {
		Steps []struct {
			Role schema.Role `json:"role"`
			Argv []string    `json:"argv"`
		} `json:"steps"`
	}
	if rundir.ReadPlan(dir, &p) != nil {
		return "" // not a run of this program, or of another user
	}
	for _, s := range p.Steps {
		if !slices.Contains([]schema.Role{schema.Prefill, schema.Decode, schema.Agg}, s.Role) {
			continue
		}
		i := slices.IndexFunc(s.Argv, func(arg string) bool { return strings.HasPrefix(arg, "--publish-") })
		if i < 0 {
			return NotPublished
		}
		return s.Argv[i]
	}
	return ""
}
