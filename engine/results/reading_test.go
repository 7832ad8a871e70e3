package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// decodeMembers returns a JSON object as members, in the order of the text.
func decodeMembers(data []byte) ([]member, error) {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	v, err := decodeValue(in)
	members, ok := v.([]member)
	if err == nil && !ok {
		err = fmt.Errorf("%.100q: not an object", data)
	}
	return members, err
}

func decodeValue(in *json.Decoder) (any, error) {
	token, err := in.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		object := []member{}
		for in.More() {
			key, err := in.Token()
			if err != nil {
				return nil, err
			}
			v, err := decodeValue(in)
			if err != nil {
				return nil, err
			}
			object = append(object, member{fmt.Sprint(key), v})
		}
		_, err = in.Token()
		return object, err
	case json.Delim('['):
		list := []any{}
		for in.More() {
			v, err := decodeValue(in)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = in.Token()
		return list, err
	}
	return token, nil
}

// respell copies the client's files in another spelling, with byte-order marks.
func respell(t *testing.T, from, to string, rng *rand.Rand) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(from, "*.json*"))
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		objects := [][]byte{data}
		if filepath.Ext(path) == ".jsonl" {
			objects = bytes.Split(bytes.TrimSpace(data), []byte("\n"))
		}
		out := bytes.NewBufferString("\ufeff")
		for _, object := range objects {
			members, err := decodeMembers(object)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			rng.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
			s := speller{choices: make([]byte, 2*len(object))}
			for i := range s.choices {
				s.choices[i] = byte(rng.Uint32())
			}
			s.value(members)
			out.Write(s.out.Bytes())
			out.WriteByte('\n')
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// referencePhases computes the phases from rows that encoding/json has read.
func referencePhases(t *testing.T, dir string) []Phase {
	t.Helper()
	f := NewAggregator()
	defer f.Close()
	data, err := os.ReadFile(filepath.Join(dir, RequestsFile))
	if err != nil {
		t.Fatal(err)
	}
	for l := range bytes.Lines(data) {
		r, err := referenceRow(l)
		if err != nil {
			t.Fatal(err)
		}
		f.addRow(&f.live, RequestsFile, &r)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	for l := range bytes.Lines(manifest) {
		if err := f.AddManifestRow(l); err != nil {
			t.Fatal(err)
		}
	}
	return f.Snapshot(time.Time{}).Phases
}

func phasesJSON(t *testing.T, phases []Phase) string {
	t.Helper()
	text, err := json.MarshalIndent(phases, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSpellingsGiveTheSameFigures checks that figures do not depend on the spelling of the
// client's files, and equal those of rows that encoding/json has read.
func TestSpellingsGiveTheSameFigures(t *testing.T) {
	t.Parallel()
	same := func(_ int, row string) string { return row }
	generated := tree(t, map[string]string{
		RequestsFile: strings.Join(rowsWith(same), "\n") + "\n", ManifestFile: completeWindow + "\n",
	})
	mixed := t.TempDir()
	writeMixedRows(t, mixed, 500)
	for name, dir := range map[string]string{
		"sample": filepath.Join(sample, clientDir), "generated": generated, "mixed": mixed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, err := Load(t.Context(), dir, RunContext{})
			if err != nil || len(run.Phases) == 0 || len(run.Warnings) != 0 {
				t.Fatal(err, run.Phases, run.Warnings)
			}
			want := phasesJSON(t, run.Phases)
			if name != "sample" { // it has a statistics file
				if diff := cmp.Diff(phasesJSON(t, referencePhases(t, dir)), want); diff != "" {
					t.Error("reference: ", diff)
				}
			}
			for seed := range uint64(3) {
				other := t.TempDir()
				respell(t, dir, other, rand.New(rand.NewPCG(seed, 5)))
				run, err := Load(t.Context(), other, RunContext{})
				if err != nil || len(run.Warnings) != 0 {
					t.Fatal(err, run.Warnings)
				}
				if diff := cmp.Diff(want, phasesJSON(t, run.Phases)); diff != "" {
					t.Errorf("seed %d: %s", seed, diff)
				}
			}
		})
	}
}

func TestByteOrderMarks(t *testing.T) {
	t.Parallel()
	const mark = "\ufeff"
	dir := tree(t, map[string]string{
		RequestsFile:                 mark + line(0, 112, "") + "\r\n" + line(1, 113, "") + "\r\n",
		ManifestFile:                 mark + window, // without a newline
		testStem.String() + ".jsonl": mark + line(0, 112, "") + "\n",
		testStem.String() + ".json":  mark + `{"requests":{"total":2},"throughput":{"output_client_tok_s":7}}`,
	})
	run, err := Load(t.Context(), dir, RunContext{})
	if err != nil || len(run.Warnings) > 0 {
		t.Fatal(err, run.Warnings)
	}
	p := run.Phases[0]
	if p.Total != 2 || p.Window.Source != FromManifest || p.Figures.Get("output_client_tok_s").Value != 7 {
		t.Errorf("%d rows, window %+v, %+v", p.Total, p.Window, p.Figures.Get("output_client_tok_s"))
	}
	only := tree(t, map[string]string{RequestsFile: mark, ManifestFile: mark + "\n"})
	if run, err := Load(t.Context(), only, RunContext{}); err != nil || len(run.Warnings) > 0 {
		t.Error(err, run.Warnings)
	}
}

// TestInvalidValuesAreCounted checks that a value of the wrong type leaves its field unknown.
func TestInvalidValuesAreCounted(t *testing.T) {
	t.Parallel()
	f := aggregate(t, `{"phase_idx":0.0,"settling_end":1.1e2,"actual_phase_end":120,"phase_start":"x"}`,
		`{"ttft_s":{"p50":"0.3"},"requests":{"total":"4","failed":null}}`,
		line(0, 112, `"user_id":1.0,"phase_idx":0e3`), line(1, 113, `"user_id":"1","server_output_tokens":"10"`),
		line(2, 114, `"server_output_tokens":[10]`), line(3, 115, ""))
	run := f.Snapshot(time.Time{})
	p := run.Phases[0]
	out := p.Figures.Get("output_tokens")
	if p.Total != 4 || p.Requests.Measured != 4 || out.N != 2 || out.Class != Invalid {
		t.Errorf("%d rows, %d measured, %+v", p.Total, p.Requests.Measured, out)
	}
	want := []string{
		testStem.String() + `.json: 2 value(s) of the wrong type, treated as unknown; first: requests.total "4"`,
		`phase_manifest.jsonl: 1 row(s) with a value of the wrong type, treated as unknown; first: phase_start "x"`,
		`requests.jsonl: 2 row(s) with a value of the wrong type, treated as unknown; first: server_output_tokens "10"`,
	}
	if diff := cmp.Diff(want, run.Warnings); diff != "" {
		t.Error(diff)
	}
	err := f.AddManifestRow([]byte(`{"phase_idx":"1","settling_end":110,"actual_phase_end":120}`))
	if err == nil || !strings.Contains(err.Error(), `is missing: found phase_idx "1"`) {
		t.Error(err)
	}
	if err := f.AddManifestRow([]byte(`{"Phase_Idx":1,"settling_end":110,"actual_phase_end":120}`)); err == nil {
		t.Error("a key in another case is taken for phase_idx")
	}
}

// TestRowsOfUnknownPhase checks that such rows are not taken for a restart, and that the
// figures of all phases say that rows may be missing.
func TestRowsOfUnknownPhase(t *testing.T) {
	t.Parallel()
	f := aggregate(t, window, "", line(0, 112, ""), line(0, 114, ""),
		line(0, 130, `"phase_idx":1`), line(1, 131, `"phase_idx":"1"`), line(2, 132, `"phase_idx":1`))
	if err := f.AddManifestRow([]byte(`{"phase_idx":1,"settling_end":130,"actual_phase_end":140}`)); err != nil {
		t.Fatal(err)
	}
	run := f.Snapshot(time.Time{})
	if run.EarlierStartRows != 0 || len(run.Phases) != 2 || run.Phases[0].Total != 3 || run.Phases[1].Total != 2 {
		t.Fatalf("%d of an earlier start, %+v", run.EarlierStartRows, run.Phases)
	}
	for _, p := range run.Phases {
		text := strings.Join(p.Invalid, "\n")
		if !strings.Contains(text, "the phase of 1 row(s) is unknown; they are counted in phase 0") {
			t.Errorf("phase %d: %s", p.Index, text)
		}
	}
}

// TestAnalysisRowsLackingKeys checks that the live value counts where an analysis row lacks
// the key, and that an explicit null stays unknown.
func TestAnalysisRowsLackingKeys(t *testing.T) {
	t.Parallel()
	live := func(u int) string { return line(u, 112+float64(u), "") }
	with := func(u int, key string, value any) string {
		members, err := decodeMembers([]byte(live(u)))
		if err != nil {
			t.Fatal(err)
		}
		s, kept := speller{}, []member{}
		for _, m := range members {
			if m.key != key {
				kept = append(kept, m)
			} else if value != "absent" {
				kept = append(kept, member{key, value})
			}
		}
		s.value(kept)
		return s.out.String()
	}
	for _, tt := range []struct {
		key, figure string
		live        float64 // figure if both live values count
		one         float64 // figure if only one value is known
	}{
		{"server_cached_tokens", "cached_tokens", 180, 90},
		{"server_output_tokens", "output_tokens", 20, 10},
		{"server_input_tokens", "input_tokens", 200, 100},
		{"ttft", "ttft_p50_s", 0.25, 0.25},
		{"itl", "itl_p50_s", 0.02, 0.02},
		{"sse_output_speed", "output_speed_sse_p50_tok_s", 40, 40},
		{"end_time", "e2e_p50_s", 1, 1},
	} {
		for _, value := range []any{"absent", nil} {
			dir := tree(t, map[string]string{
				RequestsFile:                 live(0) + "\n" + live(1) + "\n",
				testStem.String() + ".jsonl": with(0, tt.key, value) + "\n" + live(1) + "\n",
				ManifestFile:                 window,
			})
			run, err := Load(t.Context(), dir, RunContext{})
			if err != nil {
				t.Fatal(err)
			}
			p, n, want := run.Phases[0], 2, tt.live
			if value == nil {
				n, want = 1, tt.one
			}
			if f := p.Figures.Get(tt.figure); p.Total != 2 || f.N != n || f.Value != want {
				t.Errorf("%s %v: %d rows, %s %g of %d, want %g of %d", tt.key, value, p.Total, tt.figure, f.Value, f.N, want, n)
			}
		}
	}
	failed := tree(t, map[string]string{
		RequestsFile: line(0, 112, `"success":false,"error_kind":"timeout"`) + "\n" +
			line(1, 113, `"has_output":false`),
		testStem.String() + ".jsonl": with(0, "success", "absent") + "\n" + live(1),
		ManifestFile:                 window,
	})
	run, err := Load(t.Context(), failed, RunContext{})
	if err != nil || run.Phases[0].Requests.Failed != 2 || run.Phases[0].Errors["timeout"] != 1 {
		t.Errorf("%v: %+v, %v", err, run.Phases[0].Requests, run.Phases[0].Errors)
	}
}

// TestFillSpilledRows checks the same for more rows than are kept in memory.
func TestFillSpilledRows(t *testing.T) {
	t.Parallel()
	const n = blockRows*residentBlocks + 3*fillRows/2
	f := NewAggregator()
	defer f.Close()
	if err := f.AddManifestRow([]byte(`{"phase_idx":0,"settling_end":0,"actual_phase_end":1e9}`)); err != nil {
		t.Fatal(err)
	}
	analysis, name := f.analysisTable(testStem)
	for i := range n {
		r := row{Request: Request{
			Start: float64(i), End: float64(i) + 0.5, Input: 10, Output: 1, Cached: 3, User: int32(i % 100), TTFT: math.NaN(),
			ITL: math.NaN(), SSE: math.NaN(),
		}, key: combineHash(uint64(i), 7)}
		f.addRow(&f.live, RequestsFile, &r)
		r.Cached, r.flags = -1, lacksCached
		f.addRow(analysis, name, &r)
	}
	p := only(t, f)
	if cached := p.Figures.Get("cached_tokens"); p.Total != n || cached.N != n || cached.Value != 3*n {
		t.Errorf("%d rows, %+v, %v", p.Total, cached, f.storeErr)
	}
}

// TestRestartWithTheSameRequestIDs checks that rows of the last client start are not
// dropped as duplicates of the first one.
func TestRestartWithTheSameRequestIDs(t *testing.T) {
	t.Parallel()
	first := rowsWith(func(i int, row string) string {
		if i >= 500 {
			return ""
		}
		return row
	})
	var all []string
	for i, row := range rowsWith(func(_ int, row string) string { return row }) {
		start := 1000 + 0.25*float64(i)
		later := strings.NewReplacer(fmt.Sprintf(`"start_time":%g`, start), fmt.Sprintf(`"start_time":%g`, start+600),
			fmt.Sprintf(`"end_time":%g`, start+0.5), fmt.Sprintf(`"end_time":%g`, start+600.5))
		all = append(all, later.Replace(row))
	}
	f := NewAggregator()
	defer f.Close()
	for i, row := range append(first, all...) {
		if err := f.AddRequestRow([]byte(row)); err != nil {
			t.Fatal(err)
		}
		if i%100 == 0 {
			f.Snapshot(time.Time{}) // must not change the result
		}
	}
	if err := f.AddManifestRow([]byte(`{"phase_idx":0,"settling_end":1600,"actual_phase_end":1900}`)); err != nil {
		t.Fatal(err)
	}
	run := f.Snapshot(time.Time{})
	if p := run.Phases[0]; p.Requests.Measured != 1200 || run.EarlierStartRows != 500 {
		t.Errorf("%d measured, %d of an earlier start, want 1200 and 500: %v",
			p.Requests.Measured, run.EarlierStartRows, run.Warnings)
	}
	if err := f.AddRequestRow([]byte(all[7])); err != nil {
		t.Fatal(err)
	}
	run = f.Snapshot(time.Time{})
	text := strings.Join(run.Warnings, "\n")
	if p := run.Phases[0]; p.Requests.Measured != 1200 || !strings.Contains(text, "1 duplicate row(s)") {
		t.Errorf("%d measured with a duplicate: %s", p.Requests.Measured, text)
	}
}

func TestDirectoryPerClientStart(t *testing.T) {
	t.Parallel()
	rows := func(at float64) string { return line(0, at, "") + "\n" + line(1, at+1, "") + "\n" }
	dir := tree(t, map[string]string{
		"agentperf/start_b/requests.jsonl":       rows(112),
		"agentperf/start_b/phase_manifest.jsonl": window,
		"agentperf/start_a/requests.jsonl":       line(0, 1112, "") + "\n",
		"agentperf/start_a/phase_manifest.jsonl": `{"phase_idx":0,"settling_end":1110,"actual_phase_end":1120}`,
		"agentperf/empty/notes.txt":              "",
		"agentperf/requests.jsonl":               rows(50),
	})
	for _, arg := range []string{".", "agentperf"} {
		run, err := Load(t.Context(), filepath.Join(dir, arg), RunContext{})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"agentperf: output of another client start, not counted; the last one is agentperf/start_a",
			"agentperf/start_b: output of another client start, not counted; the last one is agentperf/start_a",
		}
		if p := run.Phases[0]; p.Total != 1 || p.Window.Start != 1110 || run.LogDir != dir {
			t.Errorf("%s: %d rows, %+v", run.LogDir, p.Total, p.Window)
		}
		if diff := cmp.Diff(want, run.Warnings); diff != "" {
			t.Error(diff)
		}
	}
	run, err := Load(t.Context(), filepath.Join(dir, "agentperf/start_b"), RunContext{})
	if err != nil || run.Phases[0].Total != 2 || len(run.Warnings) != 0 {
		t.Errorf("%v: %+v, %v", err, run.Phases, run.Warnings)
	}
	if got := OutputDir(dir); got != filepath.Join(dir, "agentperf/start_a") {
		t.Error(got)
	}
}

func TestPredecessorRows(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"agentperf/rwlt_requests.jsonl": line(0, 112, "") + "\n", "agentperf/phase_manifest.jsonl": window,
	}
	run, err := Load(t.Context(), tree(t, files), RunContext{})
	if err != nil || run.Phases[0].Total != 1 ||
		!cmp.Equal(run.Warnings, []string{"rwlt_requests.jsonl read: the request rows of the client's predecessor"}) {
		t.Errorf("%v: %+v, %v", err, run.Phases, run.Warnings)
	}
	files["agentperf/requests.jsonl"] = line(1, 113, "") + "\n" + line(2, 114, "") + "\n"
	run, err = Load(t.Context(), tree(t, files), RunContext{})
	if err != nil || run.Phases[0].Total != 2 ||
		!cmp.Equal(run.Warnings, []string{"rwlt_requests.jsonl ignored: there is requests.jsonl too"}) {
		t.Errorf("%v: %+v, %v", err, run.Phases, run.Warnings)
	}
}

// TestNothingReadable checks the texts if half or none of the rows can be read.
func TestNothingReadable(t *testing.T) {
	t.Parallel()
	half := aggregateAny(t, rowsWith(func(i int, row string) string { return row[i%2*9:] })).Snapshot(time.Time{})
	head, _, _ := strings.Cut(half.Text(), "\n")
	if head != "phase 0, concurrency 12: 50% of the rows could not be read (600 of 1,200)" {
		t.Error(head)
	}
	if err := half.WithoutFigures("x"); err != nil {
		t.Error(err)
	}
	none := aggregateAny(t, rowsWith(func(_ int, row string) string { return row[9:] })).Snapshot(time.Time{})
	head, _, _ = strings.Cut(none.Text(), "\n")
	if !strings.HasSuffix(head, ": 100% of the rows could not be read (1,200 of 1,200)") ||
		!cmp.Equal(none.Phases[0].Invalid, []string{"none of the 1,200 request rows could be read"}) {
		t.Error(none.Text())
	}
	noManifest := NewAggregator()
	defer noManifest.Close()
	_ = noManifest.AddRequestRow([]byte("rubbish"))
	for want, run := range map[string]Run{
		"none of the 1,200 request rows could be read": none,
		"none of the 1 request rows could be read":     noManifest.Snapshot(time.Time{}),
	} {
		err := run.WithoutFigures("x")
		text := fmt.Sprint(err)
		if problem.Of(err) != problem.RowsUnreadable || !strings.Contains(text, "read results: x: no figures: "+want) {
			t.Error(err)
		}
		if _, text, _ := strings.Cut(run.Text(), "none of the"); text == "" {
			t.Error(run.Text())
		}
	}
	empty := NewAggregator().Snapshot(time.Unix(0, 0))
	if err := empty.WithoutFigures("x"); problem.Of(err) != problem.ResultsNotFound {
		t.Error(err)
	}
	settling := aggregate(t, window, "", line(0, 50, "")).Snapshot(time.Time{})
	text := fmt.Sprint(settling.WithoutFigures("x"))
	if !strings.Contains(text, "no request started in the measuring window") {
		t.Error(text)
	}
}
