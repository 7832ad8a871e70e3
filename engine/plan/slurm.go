package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/backend"
	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// slurm plans the run as a job.
func (b *builder) slurm() error {
	if err := b.mounts(); err != nil {
		return err
	}
	if err := b.configs(); err != nil {
		return err
	}
	if b.Smoke {
		if err := b.smoke(); err != nil {
			return err
		}
	}
	front := b.serve(b.backend)
	var env backend.Env
	env.Set("SRTCTL_FRONTEND_TYPE", b.r.Frontend.Type, backend.BuiltIn)
	env.Set("SRT_FRONTEND_HOST", front.Host, backend.BuiltIn)
	env.Set("SRT_FRONTEND_PORT", front.Port, backend.BuiltIn)
	b.client(env, "/agentperf/agentperf-tui", "job", "bench", "--endpoint", "http://"+front.Host+":"+front.Port,
		"--model", b.p.Model, "--client-dir", b.r.Benchmark.ClientDir, "--config", b.config,
		"--concurrencies", recipes.JoinInts(b.levels))
	if b.Target == Srtctl {
		return b.srtctl()
	}
	b.p.Script = b.script()
	return nil
}

// configs writes each role's engine config where the engine reads it.
func (b *builder) configs() error {
	for _, role := range b.r.Roles() {
		if role.Workers == 0 {
			continue
		}
		name, text, err := b.backend.Config(role)
		if err != nil {
			return err
		}
		if name != "" {
			source := b.r.Position(role.ConfigPath).Path
			b.p.Files = append(b.p.Files, File{Path: LogDir + "/" + name, Content: text, Source: source, Role: role.Name})
		}
	}
	return nil
}

// srtctl leaves the job to srtctl: what it will do is what its own dry-run shows.
func (b *builder) srtctl() error {
	if b.Smoke {
		return problem.New(problem.PlanUnsupported,
			"srtctl can't start a smoke run, because it reads the workload that the recipe names; use --launcher slurm")
	}
	b.substitute("launcher", "a batch script of this program", "srtctl apply -f RECIPE -o "+b.OutputDir+" -y --json",
		"srtctl makes script and steps itself (srtctl dry-run shows them); nodes, roles and logs are laid out as below")
	b.substitute("sbatch_directives.comment", "as the recipe has it", "one of this run's own, before it",
		"the job is found again by it")
	return nil
}

// srun is the command line of a step. Variables are set inside the container by
// env(1), whose arguments no shell reads: an --export list would be split at
// every comma, and a plain export would lose against the image's own values.
// Secrets do not stand on a command line: they come with srun's own environment.
func (b *builder) srun(s *Step, options []string) []string {
	argv := append([]string{"srun", "--jobid", JobID, "--job-name", s.Name, "--overlap"}, options...)
	argv = append(argv, "--nodes", strconv.Itoa(len(s.Nodes)), "--ntasks", strconv.Itoa(s.Tasks),
		"--nodelist", strings.Join(each(s.Nodes, nodeName), ","), "--output", LogDir+"/"+s.Log, "--open-mode", "append")
	image := b.p.Image
	if s.Role == schema.Client && b.r.Benchmark.Image != "" {
		image = b.r.Benchmark.Image
	}
	argv = append(argv, "--container-image", image, "--no-container-entrypoint", "--no-container-mount-home",
		"--container-mounts", b.mountList())
	for _, o := range b.r.SrunOptions {
		argv = append(argv, option(o.Name, o.Value))
	}
	argv = append(argv, "--export=ALL")
	var secrets, sets []string
	for _, v := range s.Env {
		if recipes.IsSecret(v.Name) {
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
	return strings.Join(each(b.p.Mounts, func(m Mount) string { return m.Host + ":" + m.Container }), ",")
}

// script is the batch script: it picks the program for the node's architecture
// and becomes it. Without exec, the TERM that a cancel sends would end at the
// shell. The run's folder is there before the job can start.
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
	r, c := b.r, b.Cluster
	n := strconv.Itoa(b.l.nodes)
	out := []string{
		"--job-name=" + quote(r.Name), "--output=" + quote(b.OutputDir+"/%j/logs/sweep_%j.log"), "--nodes=" + n,
		"--ntasks=" + strconv.Itoa(r.GPUsPerNode*b.l.nodes), "--ntasks-per-node=" + strconv.Itoa(r.GPUsPerNode),
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
		out = append(out, option(o.Name, quoteIf(o.Value)))
	}
	if c != nil {
		for _, o := range c.SbatchDirectives {
			if !seen[o.Name] {
				out = append(out, option(o.Name, quoteIf(o.Value)))
			}
		}
	}
	// A requeued job would write over the first start's logs. TERM goes to the
	// batch process alone, 90 s before the limit, so that phases can be saved.
	return append(out, "--no-requeue", "--signal=B:TERM@90")
}

// quote makes one shell word of any text.
func quote(s string) string {
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil { // only NUL and invalid bytes, which no path or name may hold
		return "''"
	}
	return q
}

func quoteIf(s string) string {
	if s == "" {
		return ""
	}
	return quote(s)
}

// CommandLine is an argument vector as a shell would take it.
func CommandLine(argv []string) string {
	return strings.Join(each(argv, quote), " ")
}

// Secrets are the variables of a step that may stand on no command line.
func (s Step) Secrets() []Var {
	return slices.DeleteFunc(slices.Clone(s.Env), func(v Var) bool { return !recipes.IsSecret(v.Name) })
}
