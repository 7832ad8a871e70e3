package schema

import (
	"bytes"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"
)

//go:embed fields.yaml
var fieldsYAML []byte

// fields returns the rows of fields.yaml by the file that they describe: recipe, workload
// or cluster. fields.yaml is embedded, so an error in it is a bug.
var fields = sync.OnceValue(func() map[string][]Field {
	all, err := parseFields(fieldsYAML)
	if err != nil {
		panic("recipes/schema/fields.yaml: " + err.Error())
	}
	return all
})

// row is a row of fields.yaml, which documents the keys.
type row struct {
	Field    `yaml:",inline"`
	Path     string
	Min      *float64
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
	}
	return all, nil
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
			for _, text := range []*string{&f.V1, &f.V2, &f.Doc, &f.Pitfall} {
				*text = names.Replace(*text)
			}
		}
		if r.Min != nil {
			f.Min, f.HasMin = *r.Min, true
		}
		if r.Above != nil {
			f.Min, f.HasMin, f.MinExcluded = *r.Above, true, true
		}
		out = append(out, f)
	}
	return out
}
