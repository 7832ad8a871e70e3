package backend

import (
	"slices"
	"strconv"

	"github.com/agentperf/agentperf-tui/recipes"
)

// Var is one environment variable of a process with its origin.
type Var struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`          // built-in, recipe path, cluster file
	Beats  string `json:"beats,omitempty"` // origin of a value that this one replaced
}

// BuiltIn is the origin of what comes from this program.
const BuiltIn = "built-in"

// Env is the environment of a process. A name stands in it once.
type Env []Var

// Set gives a variable a value; a former value is replaced, and its origin kept as
// what was beaten.
func (e *Env) Set(name, value, origin string) {
	beats := ""
	if i := slices.IndexFunc(*e, func(v Var) bool { return v.Name == name }); i >= 0 {
		beats = (*e)[i].Origin
		*e = slices.Delete(*e, i, i+1)
	}
	*e = append(*e, Var{Name: name, Value: value, Origin: origin, Beats: beats})
}

// Add sets variables of a mapping in a file, given by its path there.
func (e *Env) Add(vars recipes.Env, path string) {
	for _, v := range vars {
		e.Set(v.Name, v.Value, path+"."+v.Name)
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
