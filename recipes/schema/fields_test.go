package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/testdata/golden"
)

// row is a row of fields.yaml, which documents the keys.
type row struct {
	Field    `yaml:",inline"`
	Path     string
	Min      *float64
	Max      *float64
	Above    *float64
	EachRole []row `yaml:"each_role"`
	Of       []Role
}

func parseFields(data []byte) (map[string][]Field, error) {
	var tables map[string][]row
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&tables); err != nil {
		return nil, err
	}
	all := map[string][]Field{}
	for name, rows := range tables {
		all[name] = expand(rows, "")
		inherit(all[name])
	}
	return all, nil
}

// inherit gives the fields of a block what its row says about their readers and about plans, unless
// they have such columns of their own.
func inherit(fields []Field) {
	for _, block := range fields {
		if !block.Kind.IsBlock() {
			continue
		}
		for i := range fields {
			f := &fields[i]
			if !f.isIn(block) {
				continue
			}
			for _, of := range []struct{ to, from *[]string }{
				{&f.Engines, &block.Engines}, {&f.Frontends, &block.Frontends}, {&f.Benchmarks, &block.Benchmarks},
			} {
				if *of.to == nil {
					*of.to = *of.from
				}
			}
			if f.NotApplied == "" && f.NotOurs == "" {
				f.NotApplied, f.NotOurs, f.Figures, f.Rule = block.NotApplied, block.NotOurs, block.Figures, block.Rule
			}
		}
	}
}

// isIn reports whether a field is in a block.
func (f Field) isIn(block Field) bool {
	in := func(path, parent string) bool {
		rest, ok := strings.CutPrefix(path, parent)
		return ok && parent != "" && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[]."))
	}
	return in(f.V1, block.V1) || in(f.V2, block.V2)
}

// expand converts rows to fields. role is empty outside of each_role.
func expand(rows []row, role Role) []Field {
	var out []Field
	names := strings.NewReplacer("{role}", string(role), "{mode}", role.Layout1Name())
	for _, r := range rows {
		if len(r.EachRole) > 0 {
			for _, each := range WorkerRoles() {
				out = append(out, expand(r.EachRole, each)...)
			}
			continue
		}
		if len(r.Of) > 0 && !slices.Contains(r.Of, role) {
			continue
		}
		f := r.Field
		if r.Path != "" {
			f.V1, f.V2 = r.Path, r.Path
		}
		if role != "" {
			for _, text := range []*string{&f.V1, &f.V2, &f.Doc, &f.Pitfall, &f.Like} {
				*text = names.Replace(*text)
			}
		}
		if r.Min != nil {
			f.Min, f.HasMin = *r.Min, true
		}
		if r.Above != nil {
			f.Min, f.HasMin, f.MinExcluded = *r.Above, true, true
		}
		if r.Max != nil {
			f.Max, f.HasMax = *r.Max, true
		}
		out = append(out, f)
	}
	return out
}

// tableNames are the tables of fields.yaml, in order.
var tableNames = []string{"recipe", "several", "workload", "cluster"}

// loadFields reads fields.yaml.
func loadFields(t *testing.T) (text []byte, all map[string][]Field) {
	t.Helper()
	text, err := os.ReadFile("fields.yaml")
	if err == nil {
		all, err = parseFields(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text, all
}

// TestFieldsAreUpToDate compares fields.json with fields.yaml. `make golden` writes it.
func TestFieldsAreUpToDate(t *testing.T) {
	t.Parallel()
	_, all := loadFields(t)
	var out bytes.Buffer
	for i, name := range tableNames {
		fmt.Fprintf(&out, "%c%q:[\n", "{,,,"[i], name)
		for j, f := range all[name] {
			row := map[string]any{}
			for k, v := range reflect.ValueOf(f).Fields() {
				if !v.IsZero() {
					row[k.Name] = v.Interface()
				}
			}
			text, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(text)
			if j < len(all[name])-1 {
				out.WriteString(",")
			}
			out.WriteString("\n")
		}
		out.WriteString("]")
	}
	out.WriteString("}\n")
	golden.Equal(t, "fields.json", out.Bytes())
	var back map[string][]Field
	if err := json.Unmarshal(out.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, back); diff != "" {
		t.Errorf("fields that JSON does not preserve (-fields.yaml +fields.json):\n%s", diff)
	}
}

func TestFieldsFile(t *testing.T) {
	t.Parallel()
	_, all := loadFields(t)
	for _, name := range tableNames {
		if len(all[name]) == 0 || len(all) != len(tableNames) {
			t.Errorf("the table %s is missing, or there are others: %d tables", name, len(all))
		}
	}
	for table, rows := range all {
		for _, f := range rows {
			checkField(t, table+" "+f.Name(), f)
		}
	}
}

// checkField reports properties of a field that contradict each other.
func checkField(t *testing.T, name string, f Field) {
	t.Helper()
	kinds := []Kind{
		Str, Int, Float, Bool, BoolOrStr, BoolOrMap, IntOrStr, NodeCount, StrMap, ListMap, FreeMap, StrList, Levels, IntList,
		FloatsOrStr, Opaque, Block, WordOrBlock, BlockList, BlockOrList,
	}
	if !slices.Contains(kinds, f.Kind) {
		t.Errorf("%s: unknown kind %q", name, f.Kind)
	}
	if number := []Kind{Int, NodeCount, Float, IntList}; f.HasMin && !slices.Contains(number, f.Kind) {
		t.Errorf("%s: a %s has a bound", name, f.Kind)
	}
	if f.Required && (f.Default != "" || f.Nullable) {
		t.Errorf("%s: required, but has a default or allows null", name)
	}
	words := len(f.Enum) > 0 && f.Kind == Str && f.Default != ""
	if words && !slices.Contains(f.Enum, f.Default) {
		t.Errorf("%s: the default %q is not allowed", name, f.Default)
	}
	if strings.Contains(f.V1+f.V2+f.Doc+f.Pitfall, "{role}") || strings.Contains(f.V1, "{mode}") {
		t.Errorf("%s: placeholder outside of each_role", name)
	}
}

func TestRowKeysAreConsistent(t *testing.T) {
	t.Parallel()
	var tables map[string][]row
	text, _ := loadFields(t)
	if err := yaml.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	var check func(rows []row, inRole bool)
	check = func(rows []row, inRole bool) {
		for _, r := range rows {
			if len(r.EachRole) > 0 {
				check(r.EachRole, true)
				continue
			}
			if (r.Path != "") == (r.V1+r.V2 != "") || r.V1 != "" && r.V1 == r.V2 {
				t.Errorf("%s%s: want path, or v1 and v2 that differ", r.Path, r.Name())
			}
			if r.Min != nil && r.Above != nil {
				t.Errorf("%s%s: both min and above", r.Path, r.Name())
			}
			for _, role := range r.Of {
				if !inRole || !slices.Contains(WorkerRoles(), role) {
					t.Errorf("%s%s: of %s", r.Path, r.Name(), role)
				}
			}
		}
	}
	for _, rows := range tables {
		check(rows, false)
	}
}

func TestParseFieldsRefusesInvalidFiles(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"recipe: [{path: a, kinds: int}]", "recipe: [{path: a, min: many}]", "recipe: {path: a}", "",
	} {
		if _, err := parseFields([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestEnginesHaveConfigFields(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range Engines() {
		names = append(names, e.Name)
		for _, role := range WorkerRoles() {
			if _, ok := Recipe(1).Field(role.ConfigPath(e.Name)); ok != e.HasRoleConfig {
				t.Errorf("%s of %s: is a field: %v, want %v", role.ConfigPath(e.Name), e.Name, ok, e.HasRoleConfig)
			}
		}
	}
	if f, _ := Recipe(1).Field("backend.type"); !slices.Equal(f.Enum, names) || f.Default != DefaultEngine {
		t.Errorf("backend.type is %+v, want one of %v", f, names)
	}
}

func BenchmarkFields(b *testing.B) {
	for b.Loop() {
		var all map[string][]Field
		if err := json.Unmarshal(fieldsJSON, &all); err != nil {
			b.Fatal(err)
		}
	}
}
