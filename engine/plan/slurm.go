package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
	"github.com/agentperf/agentperf-tui/recipes/secret"
)

// buildSlurm plans the run as a Slurm job.
func (b *builder) buildSlurm() error {
	if err := b.addMounts(); err != nil {
		return err
	}
	if err := b.addConfigs(); err != nil {
		return err
	}
	if b.Smoke {
		if err := b.shortenForSmoke(); err != nil {
			return err
		}
	}
	b.addStaging()
	frontend := b.addServers(b.backend)
	b.noteUnresolvedModel()
	b.noteUnsetVariables()
	var env backend.Env
	env.Set("SRTCTL_FRONTEND_TYPE", b.recipe.Frontend.Type, backend.BuiltIn)
	env.Set("SRT_FRONTEND_HOST", frontend.Host, backend.BuiltIn)
	env.Set("SRT_FRONTEND_PORT", frontend.Port, backend.BuiltIn)
	b.addClient(env, "/agentperf/agentperf-tui", "job", "bench", "--endpoint", "http://"+frontend.Host+":"+frontend.Port,
		"--model", b.plan.Model, "--client-dir", b.recipe.Benchmark.ClientDir, "--config", b.config,
		"--concurrencies", recipes.JoinInts(b.levels))
	if b.Target == Srtctl {
		return b.buildSrtctl()
	}
	b.plan.Script = b.script()
	return nil
}

// addConfigs adds the engine configuration file of each role.
func (b *builder) addConfigs() error {
	for _, role := range b.recipe.Roles() {
		if role.Workers == 0 {
			continue
		}
		f, err := b.backend.Config(b.recipe, role)
		if err != nil {
			return err
		}
		if f.Name != "" {
			b.addLogFile(f, role.Name)
		}
	}
	if b.shipsNUMAScript() {
		b.plan.Files = append(b.plan.Files, File{Path: numaScriptFile, Content: numaScript, Source: b.numaSource()})
	}
	return nil
}

// addLogFile adds a file in the log directory. role is that of the engine that it configures, if any.
func (b *builder) addLogFile(f backend.File, role schema.Role) {
	file := File{Path: LogDir.text() + "/" + f.Name, Content: f.Text, Source: f.Source, Role: role}
	for _, d := range f.Defaults {
		file.Defaults = append(file.Defaults, Default{Key: d.Name, Value: d.Value})
	}
	b.plan.Files = append(b.plan.Files, file)
}

// buildSrtctl records that srtctl submits the job. Its own dry-run shows the details.
func (b *builder) buildSrtctl() error {
	if b.Smoke {
		return problem.New(problem.PlanUnsupported,
			"srtctl can't start a smoke run, because it reads the workload that the recipe names; use --launcher slurm")
	}
	b.substitute("launcher", "a batch script of this program", "srtctl apply -f RECIPE -o "+b.OutputDir+" -y --json",
		"srtctl writes the script and the steps (see srtctl dry-run); nodes, roles and logs are as shown below")
	b.substitute("sbatch_directives.comment", "the recipe's comment", "an id of this run, then the recipe's comment",
		"identifies the job")
	return nil
}

// srun returns the command line of a step. env(1) sets the variables inside the container,
// because --export would split values at commas, and the image would override variables
// that are inherited from srun. Secrets are inherited from the environment of srun, so that
// they do not appear on a command line.
func (b *builder) srun(s *Step, options []string) []string {
	argv := append([]string{"srun", "--jobid", JobID.text(), "--job-name", s.Name, "--overlap"}, options...)
	argv = append(argv, "--nodes", strconv.Itoa(len(s.Nodes)), "--ntasks", strconv.Itoa(s.Tasks),
		"--nodelist", strings.Join(mapStrings(s.Nodes, nodeName), ","), "--output", LogDir.text()+"/"+s.Log,
		"--open-mode", "append")
	role := b.recipe.Role(s.Role)
	image := cmp.Or(role.Container, b.plan.Image)
	if s.Role == schema.Client && b.recipe.Benchmark.Image != "" {
		image = b.recipe.Benchmark.Image
	}
	argv = append(argv, "--container-image", image, "--no-container-entrypoint", "--no-container-mount-home",
		"--container-mounts", b.mountList())
	for _, o := range slices.Concat(b.recipe.SrunOptions, role.Srun) {
		argv = append(argv, option(o.Name, o.Value))
	}
	argv = append(argv, "--export=ALL")
	var secrets, sets []string
	for _, v := range s.Env {
		if secret.Is(v.Name, v.Value) {
			secrets = append(secrets, v.Name)
			continue
		}
		sets = append(sets, v.Name+"="+v.Value)
	}
	if len(secrets) > 0 {
		argv = append(argv, "--container-env="+strings.Join(secrets, ","))
	}
	if len(sets) > 0 {
		argv = append(append(argv, "env"), sets...)
	}
	return append(argv, s.Argv...)
}

func option(name, value string) string {
	if value == "" {
		return "--" + name
	}
	return "--" + name + "=" + value
}

func (b *builder) mountList() string {
	return strings.Join(mapStrings(b.plan.Mounts, func(m Mount) string { return m.Host + ":" + m.Container }), ",")
}

// script returns the batch script. It selects the program for the architecture of the node
// and replaces itself with it by exec, so that the program receives the SIGTERM of a
// cancellation. The run directory exists before the job can start.
func (b *builder) script() string {
	var s strings.Builder
	s.WriteString("#!/bin/bash\n")
	for _, d := range b.directives() {
		s.WriteString("#SBATCH " + d + "\n")
	}
	fmt.Fprintf(&s, `set -euo pipefail
run=%s/"$SLURM_JOB_ID"
case "$(uname -m)" in
x86_64) arch=amd64 ;;
aarch64) arch=arm64 ;;
*) echo "agentperf-tui: no program for $(uname -m)" >&2; exit 1 ;;
esac
ln -sf "agentperf-tui-linux-$arch" "$run/bin/agentperf-tui"
exec "$run/bin/agentperf-tui" job run --run-dir "$run"
`, quote(b.OutputDir))
	return s.String()
}

func (b *builder) directives() []string {
	r, c := b.recipe, b.Cluster
	n := strconv.Itoa(b.layout.Nodes)
	out := []string{
		"--job-name=" + quote(r.Name),
		"--output=" + quote(strings.ReplaceAll(b.OutputDir, "%", "%%")+"/%j/logs/sweep_%j.log"), "--nodes=" + n,
		"--ntasks=" + strconv.Itoa(r.GPUsPerNode*b.layout.Nodes), "--ntasks-per-node=" + strconv.Itoa(r.GPUsPerNode),
	}
	if c != nil && c.GPUsPerNodeDirective {
		out = append(out, "--gpus-per-node="+strconv.Itoa(r.GPUsPerNode))
	}
	if c != nil && c.SegmentDirective {
		out = append(out, "--segment="+n)
	}
	if c != nil && c.ExclusiveDirective {
		out = append(out, "--exclusive")
	}
	for _, o := range []recipes.Var{
		{Name: "account", Value: r.Slurm.Account},
		{Name: "time", Value: r.Slurm.TimeLimit},
		{Name: "partition", Value: r.Slurm.Partition},
	} {
		if o.Value != "" {
			out = append(out, option(o.Name, quote(o.Value)))
		}
	}
	seen := map[string]bool{}
	for _, o := range r.SbatchDirectives {
		seen[o.Name] = true
		out = append(out, option(o.Name, quoteNonEmpty(o.Value)))
	}
	if c != nil {
		for _, o := range c.SbatchDirectives {
			if !seen[o.Name] {
				out = append(out, option(o.Name, quoteNonEmpty(o.Value)))
			}
		}
	}
	// A requeued job would overwrite the logs of its first start. SIGTERM goes to the batch
	// process only, 90 s before the time limit, so that results can be saved.
	return append(out, "--no-requeue", "--signal=B:TERM@90")
}

// quote quotes a text as one shell word.
func quote(s string) string {
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil { // only for NUL and invalid bytes, which paths and names can't contain
		return "''"
	}
	return q
}

func quoteNonEmpty(s string) string {
	if s == "" {
		return ""
	}
	return quote(s)
}

// CommandLine returns an argument vector as a quoted shell command.
func CommandLine(argv []string) string {
	return strings.Join(mapStrings(argv, quote), " ")
}

// Secrets returns the variables of a step that must not be on a command line.
func (s Step) Secrets() []Var {
	return slices.DeleteFunc(slices.Clone(s.Env), func(v Var) bool { return !secret.Is(v.Name, v.Value) })
}
