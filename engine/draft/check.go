package draft

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes"
	"github.com/agentperf/agentperf-tui/recipes/check"
	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// CheckText checks the text of a run's files in an editor. From disk it reads only the
// cluster file and the report of a port.
func (d *Drafts) CheckText(ctx context.Context, t Draft) (*Pair, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := &Pair{File: t.RecipePath, WorkloadText: t.Workload, getenv: d.opt.Getenv}
	file, selector := recipes.SplitSelector(t.RecipePath)
	var found, more recipes.Diagnostics
	p.Recipe, p.RecipeText, found = recipes.Select(file, t.Recipe, selector)
	var err error
	if p.Cluster, more, err = d.loadCluster(t.Cluster, t.NoCluster); err != nil {
		return nil, err
	}
	found = append(found, more...)
	if t.WorkloadPath != "" {
		p.Workload, more = recipes.ParseWorkload(t.WorkloadPath, t.Workload)
		found = append(found, more...)
	}
	d.check(p, found, check.Host{})
	return p, nil
}

// check applies the cluster file to the recipe of a pair and reports the findings of all rules after those
// of loading the files.
func (d *Drafts) check(p *Pair, found recipes.Diagnostics, host check.Host) {
	if p.Recipe != nil {
		p.Changes = p.Cluster.Apply(p.Recipe, d.opt.Getenv)
		p.Cluster = p.Cluster.Expanded(d.opt.Getenv)
	}
	p.Report = check.Run(check.Files{
		Recipe: p.Recipe, Workload: p.Workload, Cluster: p.Cluster, Questions: d.questions(p),
	}, host)
	p.Report.Diagnostics = append(found, p.Report.Diagnostics...)
	p.Report.Diagnostics.Sort()
	if p.Recipe != nil {
		p.Recipe.KeepSweeps(p.Report.Diagnostics)
	}
}

func (d *Drafts) loadCluster(path string, none bool) (*recipes.Cluster, recipes.Diagnostics, error) {
	if path == "" && !none {
		dir, err := os.Getwd()
		if err != nil {
			return nil, nil, fmt.Errorf("look for a cluster file: %w", err)
		}
		if path, err = recipes.FindCluster(dir, d.opt.Getenv); err != nil {
			return nil, nil, err
		}
	}
	c, diags, err := recipes.LoadCluster(path)
	if err != nil {
		return nil, nil, err
	}
	if c == nil { // invalid YAML, which the diagnostics report
		if c, _, err = recipes.LoadCluster(""); err != nil {
			return nil, nil, err
		}
	}
	return c, diags, nil
}

// localHost gives checks access to the files of this machine.
func (d *Drafts) localHost() check.Host {
	return check.Host{
		Users:   map[string]int{},
		Resolve: func(p string) (string, error) { return filepath.EvalSymlinks(os.Expand(p, d.opt.Getenv)) },
		Open: func(p string) (io.ReadCloser, error) {
			p = os.Expand(p, d.opt.Getenv)
			if info, err := os.Stat(p); err != nil {
				return nil, err
			} else if !info.Mode().IsRegular() { // opening a pipe would block
				return nil, problem.New(problem.NotAFile, "is not a regular file")
			}
			return os.Open(p)
		},
	}
}

// hostPath returns the path on this machine for a container path: the same path if it
// exists, or else the path that the recipe's mounts map to it. It is empty if neither exists.
func hostPath(r *recipes.Recipe, path string, getenv func(string) string) string {
	if path == "" {
		return ""
	}
	if _, err := os.Stat(path); err == nil {
		return path
	}
	for _, m := range r.ExtraMounts {
		host, container, ok := strings.Cut(m, ":")
		if !ok {
			continue
		}
		container, _, _ = strings.Cut(container, ":")
		rest, ok := strings.CutPrefix(path, strings.TrimRight(container, "/")+"/")
		if !ok {
			continue
		}
		candidate := filepath.Join(os.Expand(host, getenv), rest)
		if _, err := os.Stat(candidate); err == nil {
			return candidate
		}
	}
	return ""
}
