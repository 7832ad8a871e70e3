package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/engine/harness"
	"github.com/agentperf/agentperf-tui/engine/identity"
	"github.com/agentperf/agentperf-tui/engine/plan"
	"github.com/agentperf/agentperf-tui/engine/rundir"
	"github.com/agentperf/agentperf-tui/recipes"
)

// Facts are what a report says about the origin of its figures. Empty fields are unknown.
type Facts struct {
	Recipe        string // path of the original
	Model         string // served name or path
	ModelRevision string
	Dataset       string // path
	DatasetHash   string // of the contents of all datasets
	Seed          string
	Nodes         string    // number and names
	Client        string    // commit
	Tools         string    // versions of the programs of the run
	Date          time.Time // of the submission; zero if unknown
}

// Facts reads the facts of a run from its directory. Those that are missing, or that this user must
// not read, are unknown.
func (r Ref) Facts(ctx context.Context) (Facts, error) {
	if r.Record.ID == "" {
		return harnessFacts(ctx, r.Dir)
	}
	f := Facts{Recipe: r.Record.Recipe, Model: r.Record.Model, Date: r.Record.Created}
	id, err := identity.Read(r.Dir, r.Logs)
	if err != nil && !isUnreadable(err) {
		return f, err
	}
	f.Client, f.DatasetHash = id.Client.String(), id.DatasetHash()
	if id.Model != nil {
		f.ModelRevision = cmp.Or(id.Model.Revision, id.Model.Expected)
	}
	var tools []string
	for _, t := range id.Tools {
		tools = append(tools, t.Name+" "+t.Version)
	}
	f.Tools = strings.Join(tools, ", ")
	// The client may have read a changed copy of the submitted workload.
	for _, name := range []string{harness.ClientConfig, rundir.WorkloadFile} {
		if w, _, err := recipes.LoadWorkload(filepath.Join(r.Dir, name)); err == nil && w != nil {
			f.Dataset, f.Seed = w.TrajectoryPath, fmt.Sprint(w.Seed)
			break
		}
	}
	var p plan.Plan
	if err := rundir.ReadPlan(r.Dir, &p); err != nil {
		if !isUnreadable(err) {
			return f, fmt.Errorf("read the nodes of %s: %w", r.Label(), err)
		}
		return f, nil
	}
	var names []string
	for _, n := range p.Nodes {
		if !strings.HasPrefix(n.Name, "{") {
			names = append(names, n.Name)
		}
	}
	f.Nodes = nodesText(len(p.Nodes), names)
	return f, nil
}

// isUnreadable reports whether a file does not exist or must not be read by this user.
func isUnreadable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// maxNodeNames is the number of nodes up to which a report names them.
const maxNodeNames = 16

// nodesText formats a number of nodes and their names, as far as they are known.
func nodesText(n int, names []string) string {
	switch {
	case n == 0:
		return ""
	case len(names) == 0:
		return fmt.Sprintf("%d (names unknown)", n)
	case len(names) > maxNodeNames:
		return fmt.Sprintf("%d: %s and %d more", n, strings.Join(names[:maxNodeNames], ", "), len(names)-maxNodeNames)
	}
	return fmt.Sprintf("%d: %s", n, strings.Join(names, ", "))
}

// maxJobLog is the size in bytes up to which the log of the launches is read for the nodes.
const maxJobLog = 256 << 20

// harnessFacts reads the facts of a run of the harness, which has no recipe.
func harnessFacts(ctx context.Context, dir string) (Facts, error) {
	var f Facts
	run, err := harness.Open(dir)
	if err != nil {
		if isUnreadable(err) {
			return f, nil
		}
		return f, fmt.Errorf("read the facts of %s: %w", dir, err)
	}
	if info, err := os.Stat(filepath.Join(dir, harness.JobLog)); err == nil && info.Size() > maxJobLog {
		return f, nil
	}
	if err := run.Read(ctx, nil); err != nil {
		return f, fmt.Errorf("read the facts of %s: %w", dir, err)
	}
	f.Model = cmp.Or(run.Banner.Values["Model"].Text, run.Params["MODEL_PATH"].Text)
	f.Dataset, f.Seed = run.Banner.Values[harness.LabelTrajectories].Text, run.Banner.Values["Seed"].Text
	if commit, ok := run.ClientCommit(); ok {
		f.Client = commit.Text
	}
	var names []string
	seen := map[string]bool{}
	for _, l := range run.Launches.All() {
		for _, node := range l.Hosts {
			if !seen[node] {
				seen[node] = true
				names = append(names, node)
			}
		}
	}
	f.Nodes = nodesText(len(names), names)
	return f, nil
}
