package schema

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// fieldsJSON has the rows of fields.yaml with those below each_role expanded. A test writes it from
// fields.yaml, since reading YAML would take most of the time of a short command.
//
//go:embed fields.json
var fieldsJSON []byte

// fields returns the fields by the file that they describe: recipe, workload or cluster. fields.json
// is embedded, so an error in it is a bug.
var fields = sync.OnceValue(func() map[string][]Field {
	var all map[string][]Field
	if err := json.Unmarshal(fieldsJSON, &all); err != nil {
		panic("recipes/schema/fields.json: " + err.Error())
	}
	return all
})
