package plan

import (
	"path"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// hubModel reports whether the model is downloaded from the Hugging Face Hub instead of mounted.
func (b *builder) hubModel() bool { return strings.HasPrefix(b.recipe.ModelPath, "hf:") }

// stageDir returns the directory on the nodes that contains the copy of the model; empty: it is not copied.
func (b *builder) stageDir() string {
	if b.hubModel() {
		return ""
	}
	return recipes.ExpandVariables(b.recipe.StageDir, func(name string) string {
		if slices.Contains(recipes.JobVariables(), name) {
			return JobID.text()
		}
		return ""
	})
}

// modelPath returns the path or the Hugging Face id of the model for workers.
func (b *builder) modelPath() string {
	if id, ok := strings.CutPrefix(b.recipe.ModelPath, "hf:"); ok {
		return id
	}
	if d := b.stageDir(); d != "" {
		return path.Join(d, b.modelDirectory())
	}
	return containerModel
}

// modelDirectory returns the last part of the model's path, with symbolic links resolved if that is known.
func (b *builder) modelDirectory() string {
	if b.ResolvedModel != "" {
		return path.Base(b.ResolvedModel)
	}
	return path.Base(b.recipe.ModelPath)
}

// servedModel returns the name under which workers serve the model. By default, srt-slurm resolves symbolic
// links for workers, but not for the client.
func (b *builder) servedModel() string {
	if b.recipe.Engine.ServedModelName != "" || b.hubModel() || b.Target == Local {
		return b.plan.Model
	}
	return b.modelDirectory()
}

// noteUnresolvedModel records a name that was taken from a path that this machine could not resolve.
func (b *builder) noteUnresolvedModel() {
	named := b.recipe.Engine.ServedModelName != ""
	if b.Target != Slurm || b.ResolvedModel != "" || b.hubModel() || named && b.stageDir() == "" {
		return
	}
	b.substitute("name of the model", "last part of the resolved model.path", path.Base(b.recipe.ModelPath),
		b.recipe.ModelPath+" can't be resolved on this machine; the names differ if it is a symbolic link")
}

// noteUnsetVariables records the paths whose variables are not set here: their values in the job are unknown.
func (b *builder) noteUnsetVariables() {
	for _, v := range b.recipe.UnsetVariables() {
		b.substitute(v.Path, v.Value, "unknown", "the variable "+v.Name+" is not set on this machine")
	}
}

// copyModel copies the mounted model to the directory that its argument names. Files of an earlier copy
// are overwritten, because that copy may be incomplete or of another revision.
const copyModel = `mkdir -p -- "$1" && cp -rL -- ` + containerModel + `/. "$1" && echo "copied the model to $1"`

// addStaging adds the step that copies the model to every node of the workers before they start.
func (b *builder) addStaging() {
	if b.stageDir() == "" {
		return
	}
	var nodes []int
	for _, w := range b.layout.Workers {
		nodes = append(nodes, w.Nodes...)
	}
	slices.Sort(nodes)
	nodes = slices.Compact(nodes)
	b.addStep(Step{
		Name: "stage_model", Role: schema.Infra, Stage: Infra, Nodes: nodes, Tasks: len(nodes), Env: nil,
		Argv: []string{"bash", "-c", copyModel, "stage_model", b.modelPath()},
		Log:  "stage_model.out", Ready: Readiness{Probe: ProbeExit}, Failure: critical,
	}, "--ntasks-per-node", "1", "--label", "--kill-on-bad-exit=1")
}
