package plan

import (
	"slices"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// Redacted returns a copy of the plan for display, with secret values hidden in environments, files and
// command lines, which have them only if the recipe gives one as an argument.
func (p *Plan) Redacted() *Plan {
	out := p.mapText(secret.RedactText)
	for i := range out.Steps {
		for j, v := range out.Steps[i].Env {
			out.Steps[i].Env[j].Value = secret.Redact(v.Name, v.Value)
		}
	}
	for i := range out.Steps {
		redactArguments(out.Steps[i].Argv)
		redactArguments(out.Steps[i].Launch)
	}
	for i, f := range out.Files {
		out.Files[i].Content = secret.RedactYAML(f.Content)
	}
	return out
}

// redactArguments hides the values of flags that are secrets.
func redactArguments(argv []string) {
	for i, word := range argv {
		flag, value, attached := strings.Cut(word, "=")
		name, isFlag := strings.CutPrefix(flag, "--")
		switch {
		case !isFlag:
		case attached:
			argv[i] = flag + "=" + secret.Redact(name, value)
		case i+1 < len(argv) && !strings.HasPrefix(argv[i+1], "--"):
			argv[i+1] = secret.Redact(name, argv[i+1])
		}
	}
}

// mapText returns a copy of the plan with f applied to every text that may contain
// placeholders. That excludes the content of files, which may contain braces of its own.
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

// containerFlags are the srun flags that define the container of a step, and whether each
// takes a value.
var containerFlags = map[string]bool{
	"--container-image": true, "--container-mounts": true, "--no-container-entrypoint": false,
	"--no-container-mount-home": false,
}

// shell returns the command line that opens a shell on the first node of a step, in a
// container with the same image and mounts.
func (s *Step) shell() []string {
	argv := []string{
		"srun", "--jobid", JobID.text(), "--overlap", "--mpi", "none", "--nodes", "1", "--ntasks", "1", "--nodelist",
		nodeName(s.Nodes[0]), "--pty",
	}
	for i := 0; i < len(s.Launch); i++ {
		takesValue, ok := containerFlags[s.Launch[i]]
		if !ok {
			continue
		}
		argv = append(argv, s.Launch[i])
		if takesValue {
			i++
			argv = append(argv, s.Launch[i])
		}
	}
	return append(argv, "bash")
}
