package plan

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Bind replaces placeholders by what they turned out to be; pairs are
// placeholder, value. The plan itself stays as it is.
func (p *Plan) Bind(pairs ...string) *Plan {
	return p.mapText(strings.NewReplacer(pairs...).Replace)
}

// Redacted is the plan for display: secret values are hidden in environments and
// files. (They are on no command line and in no script.)
func (p *Plan) Redacted() *Plan {
	out := p.mapText(func(s string) string { return s })
	for i := range out.Steps {
		for j, v := range out.Steps[i].Env {
			out.Steps[i].Env[j].Value = recipes.Redact(v.Name, v.Value)
		}
	}
	for i, f := range out.Files {
		out.Files[i].Content = recipes.RedactYAML(f.Content)
	}
	return out
}

// mapText copies the plan with every text that may hold placeholders replaced; the
// content of files is not such a text: it belongs to somebody else.
func (p *Plan) mapText(f func(string) string) *Plan {
	all := func(in []string) []string {
		out := slices.Clone(in)
		for i := range out {
			out[i] = f(out[i])
		}
		return out
	}
	out := *p
	out.Nodes, out.Mounts = slices.Clone(p.Nodes), slices.Clone(p.Mounts)
	out.Files, out.Steps = slices.Clone(p.Files), slices.Clone(p.Steps)
	out.Script, out.OutputDir = f(p.Script), f(p.OutputDir)
	for i := range out.Nodes {
		out.Nodes[i].Name = f(out.Nodes[i].Name)
	}
	for i, m := range out.Mounts {
		out.Mounts[i].Host, out.Mounts[i].Container = f(m.Host), f(m.Container)
	}
	for i, file := range out.Files {
		out.Files[i].Path = f(file.Path)
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		s.Argv, s.Launch, s.Shell = all(s.Argv), all(s.Launch), all(s.Shell)
		s.Log, s.Ready.Target = f(s.Log), f(s.Ready.Target)
		s.Env = slices.Clone(s.Env)
		for j := range s.Env {
			s.Env[j].Value = f(s.Env[j].Value)
		}
	}
	return &out
}

// Placeholders lists what is still unbound in what a run executes, sorted.
func (p *Plan) Placeholders() []string {
	var found []string
	p.mapText(func(s string) string {
		found = append(found, placeholder.FindAllString(s, -1)...)
		return s
	})
	slices.Sort(found)
	return slices.Compact(found)
}

// placeholder is one of those that [Plan.Bind] replaces.
var placeholder = regexp.MustCompile(`\{(?:job_id|run_dir|log_dir|bin|(?:node|ip|port):[^}]*)\}`)

// containerFlags are the flags of a step's srun that make its container, and
// whether a value stands behind them.
var containerFlags = map[string]bool{
	"--container-image": true, "--container-mounts": true, "--no-container-entrypoint": false,
	"--no-container-mount-home": false,
}

// shell is the command line that opens a shell beside a step: on its first node, in
// a container of the same image with the same mounts.
func (s *Step) shell() []string {
	argv := []string{
		"srun", "--jobid", JobID, "--overlap", "--mpi", "none", "--nodes", "1", "--ntasks", "1", "--nodelist",
		nodeName(s.Nodes[0]), "--pty",
	}
	for i := 0; i < len(s.Launch); i++ {
		valued, ok := containerFlags[s.Launch[i]]
		if !ok {
			continue
		}
		argv = append(argv, s.Launch[i])
		if valued {
			i++
			argv = append(argv, s.Launch[i])
		}
	}
	return append(argv, "bash")
}
