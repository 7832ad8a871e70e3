package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"

	"mvdan.cc/sh/v3/syntax"
)

// srun is the command line of a step. Variables are set inside the container by
// env(1), whose arguments no shell reads: an --export list would be split at
// every comma, and a plain export would lose against the image's own values.
// Secrets do not stand on a command line: they come with srun's own environment.
// --wait ends the ranks of a worker whose leader has left without an error.
func (b *builder) srun(s *Step) []string {
	argv := []string{"srun", "--jobid", JobID, "--job-name", s.Name, "--overlap"}
	switch s.Role {
	case "prefill", "decode", "agg":
		argv = append(argv, "--mpi", "pmix", "--oversubscribe", "--cpu-bind=verbose,none", "--kill-on-bad-exit=1", "--wait=10")
	case "frontend":
		argv = append(argv, "--mpi", "pmix")
	}
	names := make([]string, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		names = append(names, nodeName(n))
	}
	argv = append(argv, "--nodes", strconv.Itoa(len(s.Nodes)), "--ntasks", strconv.Itoa(s.Tasks), "--nodelist", strings.Join(names, ","), "--output", LogDir+"/"+s.Log, "--open-mode", "append")
	image := b.p.Image
	if s.Role == "client" && b.r.Benchmark.Image != "" {
		image = b.r.Benchmark.Image
	}
	argv = append(argv, "--container-image", image, "--no-container-entrypoint", "--no-container-mount-home", "--container-mounts", b.mountList())
	for _, o := range b.r.SrunOptions {
		argv = append(argv, option(o.Name, o.Value))
	}
	argv = append(argv, "--export=ALL")
	var secrets, sets []string
	for _, v := range s.Env {
		if recipes.Secret(v.Name) {
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
	parts := make([]string, 0, len(b.p.Mounts))
	for _, m := range b.p.Mounts {
		parts = append(parts, m.Host+":"+m.Container)
	}
	return strings.Join(parts, ",")
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
	for _, o := range []struct{ name, value string }{{"account", r.Slurm.Account}, {"time", r.Slurm.TimeLimit}, {"partition", r.Slurm.Partition}} {
		if o.value != "" {
			out = append(out, "--"+o.name+"="+quote(o.value))
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
	parts := make([]string, 0, len(argv))
	for _, a := range argv {
		parts = append(parts, quote(a))
	}
	return strings.Join(parts, " ")
}
