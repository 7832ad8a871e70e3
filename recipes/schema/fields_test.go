package schema

import (
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestFieldsFile(t *testing.T) {
	t.Parallel()
	all, err := parseFields(fieldsYAML)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 3 || len(all["recipe"]) == 0 || len(all["workload"]) == 0 || len(all["cluster"]) == 0 {
		t.Errorf("want the tables recipe, workload and cluster, found %d", len(all))
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
	kinds := []Kind{Str, Int, Float, Bool, BoolOrStr, NodeCount, StrMap, FreeMap, StrList, Levels, IntList, Opaque}
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
	if err := yaml.Unmarshal(fieldsYAML, &tables); err != nil {
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

func BenchmarkParseFields(b *testing.B) {
	for b.Loop() {
		if _, err := parseFields(fieldsYAML); err != nil {
			b.Fatal(err)
		}
	}
}
