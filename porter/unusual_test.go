package porter

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"github.com/agentperf/agentperf-tui/porter/rules"
	"github.com/agentperf/agentperf-tui/porter/sample"
	"github.com/agentperf/agentperf-tui/testdata/golden"
)

// An unusual directory is the sample with a few edits. Its golden file has the lines in which its
// report differs from that of the sample.

// unusualCase is an unusual directory and what its port must give.
type unusualCase struct {
	name string
	dir  string // path of the run directory; empty: that of the sample
	edit func(d *runDir)
	// want maps canonical paths to values; "-" means that the field is not written.
	want map[string]string
	// asked are questions as "kind id: part of the message", with … for any text.
	asked []string
	// silent are parts of questions that must not be asked.
	silent []string
	// says are parts of the report.
	says []string
	// proof counts the launch lines and tokens; see proofCounts. Empty: as in the sample.
	proof string
}

// plainDir is the path of the sample's directory.
const plainDir = "bm_agentperf_dsv4_5p1d/c1010"

// runDir edits the files of a run directory.
type runDir struct {
	t    *testing.T
	path string
}

func (d *runDir) file(name string) string { return filepath.Join(d.path, name) }

func (d *runDir) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *runDir) read(name string) string {
	d.t.Helper()
	text, err := os.ReadFile(d.file(name))
	d.check(err)
	return string(text)
}

func (d *runDir) write(name, text string) {
	d.t.Helper()
	d.check(os.MkdirAll(filepath.Dir(d.file(name)), 0o755))
	d.check(os.WriteFile(d.file(name), []byte(text), 0o644))
}

func (d *runDir) remove(name string) {
	d.t.Helper()
	d.check(os.Remove(d.file(name)))
}

// replace replaces a regular expression in all lines of a file, and fails if there is no match.
func (d *runDir) replace(name, expr, with string) {
	d.t.Helper()
	re, text := regexp.MustCompile("(?m)"+expr), d.read(name)
	if !re.MatchString(text) {
		d.t.Fatalf("%s has no match for %s", name, expr)
	}
	d.write(name, re.ReplaceAllString(text, with))
}

// lines passes each line of a file to f, which returns the lines to write instead.
func (d *runDir) lines(name string, f func(line string) []string) {
	d.t.Helper()
	var out []string
	for line := range strings.Lines(d.read(name)) {
		out = append(out, f(line)...)
	}
	d.write(name, strings.Join(out, ""))
}

// launch passes each launch line of job.log that contains mark to f. An empty result removes the line.
func (d *runDir) launch(mark string, f func(line string) string) {
	d.t.Helper()
	n := 0
	d.lines("job.log", func(line string) []string {
		if strings.Contains(line, "Executing:") && strings.Contains(line, mark) {
			n++
			return []string{f(line)}
		}
		return []string{line}
	})
	if n == 0 {
		d.t.Fatalf("no launch line contains %q", mark)
	}
}

// drop removes the launch lines that contain mark.
func (d *runDir) drop(mark string) {
	d.t.Helper()
	d.launch(mark, func(string) string { return "" })
}

// launches returns the launch lines that contain one of the marks; all without a mark.
func (d *runDir) launches(marks ...string) string {
	d.t.Helper()
	var out strings.Builder
	for line := range strings.Lines(d.read("job.log")) {
		if strings.Contains(line, "Executing:") && (len(marks) == 0 ||
			slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(line, m) })) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// gzip replaces a file by its compressed form.
func (d *runDir) gzip(name string) {
	d.t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(d.read(name)))
	d.check(err)
	d.check(w.Close())
	d.write(name+".gz", out.String())
	d.remove(name)
}

// unusualOptions are the options of the ports of unusual directories. The datasets are in dir.
func unusualOptions(dir string, schema int) Options {
	data := filepath.Join(dir, "datasets")
	return Options{
		Schema: schema, GPUType: "gb300", WorkloadOut: "/scratch/w.yaml", DatasetRoots: []string{data},
		PathRewrites: []rules.Rewrite{{Old: data + "/", New: "/scratch/data/"}},
	}
}

func copySample(t *testing.T, name string) *runDir {
	t.Helper()
	files, err := fs.Sub(sample.Files, sample.Dir)
	d := &runDir{t, filepath.Join(t.TempDir(), filepath.FromSlash(name))}
	d.check(err)
	d.check(os.CopyFS(d.path, files))
	return d
}

func (c unusualCase) run(t *testing.T) {
	t.Parallel()
	plain := copySample(t, plainDir)
	dir := c.dir
	if dir == "" {
		dir = plainDir
	}
	d := copySample(t, dir)
	c.edit(d)
	for _, schema := range []int{1, 2} {
		r := port(t, d.path, unusualOptions(d.path, schema))
		checkRows(t, d.path, r)
		c.compare(t, r)
		if schema == 2 {
			before := port(t, plain.path, unusualOptions(plain.path, schema))
			file := "testdata/unusual/" + strings.ReplaceAll(c.name, " ", "-") + ".txt"
			golden.Equal(t, file, changedLines(t, plain.hide(before.ProvenanceText()), d.hide(r.ProvenanceText())))
		}
	}
}

// hide replaces the path of the directory, which depends on the machine.
func (d *runDir) hide(text string) string { return strings.ReplaceAll(text, d.path, "RUN") }

// compare compares a port with what it must give.
func (c unusualCase) compare(t *testing.T, r *Result) {
	t.Helper()
	got := map[string]string{}
	for _, f := range r.Fields {
		got[f.Path] = f.Value
	}
	for path, value := range c.want {
		if have, written := got[path]; written != (value != "-") || written && have != value {
			t.Errorf("schema %d: %s is %q, want %q", r.Schema, path, have, value)
		}
	}
	var all []string
	for _, q := range r.Todos {
		all = append(all, fmt.Sprintf("%s %s: %s\n%s", q.Kind, q.ID, q.Message, strings.Join(q.Details, "\n")))
	}
	for _, want := range c.asked {
		if !slices.ContainsFunc(all, func(s string) bool { return matches(s, want) }) {
			t.Errorf("schema %d: not asked: %s\nbut\n%s", r.Schema, want, strings.Join(all, "\n"))
		}
	}
	if got := proofCounts(r.Proof); got != cmp.Or(c.proof, plainProof) {
		t.Errorf("schema %d: proof %q, want %q", r.Schema, got, cmp.Or(c.proof, plainProof))
	}
	if nothingLost := strings.Contains(r.Proof.Summary(), "0 lost"); nothingLost != r.Proof.Complete() {
		t.Errorf("schema %d: %s", r.Schema, r.Proof.Summary())
	}
	report := r.ProvenanceText()
	for _, part := range c.silent {
		if i := slices.IndexFunc(all, func(s string) bool { return matches(s, part) }); i >= 0 {
			t.Errorf("schema %d: asked: %s", r.Schema, all[i])
		}
	}
	for _, part := range c.says {
		if !matches(report, part) {
			t.Errorf("schema %d: the report does not say %q:\n%s", r.Schema, part, report)
		}
	}
}

// plainProof is the proof of the sample.
const plainProof = "8 of 8 lines, 500 tokens: 237 same, 263 by rule, 0 asked, 0 unaccounted"

// proofCounts returns the counts of a proof.
func proofCounts(p Proof) string {
	text := fmt.Sprintf("%d of %d lines, %d tokens: %d same, %d by rule, %d asked, %d unaccounted",
		p.Read, p.Seen, p.Tokens, p.Same, p.ByRule, p.Asked, p.Unaccounted)
	if p.Problem != "" {
		text += "; not compared"
	}
	return text
}

// changedLines returns the lines that differ between two reports. Line numbers count only in questions
// and in the proof, since they change in many rows if a line is added to a log.
func changedLines(t *testing.T, before, after string) string {
	t.Helper()
	row := regexp.MustCompile(`(?m)^  (copied|translated|inferred|default|guessed|todo|\S+ \S+ <-) .*$`)
	line := regexp.MustCompile(`(\.[a-z]+):\d+`)
	hide := func(text string) string {
		return row.ReplaceAllStringFunc(text, func(s string) string { return line.ReplaceAllString(s, "$1") })
	}
	before, after = hide(before), hide(after)
	text, err := udiff.ToUnified("", "", before, udiff.Lines(before, after), 0)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "@@") {
			line = "\n"
		}
		if !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") {
			out.WriteString(line)
		}
	}
	return strings.TrimPrefix(out.String(), "\n")
}
