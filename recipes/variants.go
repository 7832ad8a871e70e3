package recipes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Variant is one of the recipes in a file. A file with a base and overrides, or with a
// sweep, has several; other files have one, with an empty selector.
type Variant struct {
	// Selector follows the file name and a colon: base, override_big,
	// zip_override_batch[1], sweep[3].
	Selector string
	// Key is the key of the file that defines the recipe: base, override_big, zip_override_batch, sweep;
	// empty for a file with one recipe.
	Key   string
	build func() *Document // called on demand, since a few lines can expand to large documents
}

// maxVariants is the limit for the number of recipes in a file.
const maxVariants = 512

// SplitSelector splits a name such as file.yaml:override_x. If a file of the full name exists, the
// selector is empty.
func SplitSelector(name string) (file, selector string) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name, ""
	}
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// Variants returns the recipes of a file that a selector selects: the recipes of a key (base,
// override_x, zip_override_x), one of several (zip_override_x[1], sweep[3]), or those of all keys of
// overrides that match a pattern with * or ?. An empty selector selects all recipes except a base that
// has overrides. The diagnostics are about the structure of the file, not about its recipes.
func Variants(file string, data []byte, selector string) ([]Variant, Diagnostics) {
	doc, diags := Parse(file, data)
	if doc.Root == nil {
		return nil, diags
	}
	if isWorkload(doc) {
		return nil, append(diags, fileStart.diagnostic(file, Error, file+" is a workload file, not a recipe",
			"give the recipe, and pass this file as --workload "+file).withRule("unknown-field"))
	}
	e := expander{doc: doc}
	if base := resolveAlias(lookup(doc.Root, "base")); base != nil && base.Kind == yaml.MappingNode {
		e.base = base
		doc.keyPaths = doc.recordKeyPaths()
		e.expandOverrides()
	} else {
		e.expandSweep("", "", lookup(doc.Root, "sweep"), func() *Document { return doc })
	}
	diags = append(diags, e.diags...)
	onlyBase := !slices.ContainsFunc(e.variants, func(v Variant) bool { return v.Key != "base" })
	var out []Variant
	for _, v := range e.variants {
		if v.matches(selector) || selector == "" && (onlyBase || v.Key != "base") {
			out = append(out, v)
		}
	}
	if len(out) == 0 && diags.Errors() == 0 {
		msg := fmt.Sprintf("no such recipe in the file: %q (available: %.400s)", selector, e.keys())
		if len(e.variants) == 1 && e.variants[0].Selector == "" {
			msg = fmt.Sprintf("the file contains a single recipe; %q does not exist", selector)
		}
		diags = append(diags, fileStart.diagnostic(file, Error, msg, "").withRule("several"))
	}
	return out, diags
}

// matches reports whether a selector selects the recipe. As in srtctl, patterns are compared with the
// keys of overrides, never with the base.
func (v Variant) matches(selector string) bool {
	if selector == v.Selector || selector == v.Key || strings.HasPrefix(v.Selector, selector+"/") {
		return true
	}
	if v.Key == "base" || !strings.ContainsAny(selector, "*?") {
		return false
	}
	ok, err := path.Match(strings.NewReplacer("[", `\[`, `\`, `\\`).Replace(selector), v.Key)
	return err == nil && ok
}

// keys lists the keys that a selector can name, each with the selectors of its recipes if it has several.
func (e *expander) keys() string {
	var out []string
	for i := 0; i < len(e.variants); {
		first, n := e.variants[i], 1
		for i+n < len(e.variants) && e.variants[i+n].Key == first.Key {
			n++
		}
		text := first.Key
		if n > 1 {
			text += fmt.Sprintf(" (%s to %s)", first.Selector, e.variants[i+n-1].Selector)
		}
		out = append(out, text)
		i += n
	}
	return strings.Join(out, ", ")
}

// Select returns the recipe of a file that matches a selector and the YAML of that recipe
// alone. If several recipes match, it reports an error that lists them.
func Select(file string, data []byte, selector string) (*Recipe, []byte, Diagnostics) {
	matches, diags := Variants(file, data, selector)
	if len(matches) > 1 {
		var names []string
		for _, v := range matches {
			names = append(names, v.Selector)
		}
		diags = append(diags, fileStart.diagnostic(file, Error,
			fmt.Sprintf("the file contains %d recipes: %.400s", len(matches), strings.Join(names, ", ")),
			"select one, as in "+file+":"+names[0]).withRule("several"))
	}
	if len(matches) != 1 {
		return nil, data, diags
	}
	r, text, more := matches[0].Load(data)
	diags = append(diags, more...)
	diags.Sort()
	return r, text, diags
}

// Load returns the recipe and its YAML alone. data is the content of the file.
func (v Variant) Load(data []byte) (*Recipe, []byte, Diagnostics) {
	doc := v.build()
	r, diags := parseRecipeDocument(doc)
	if v.Selector == "" {
		return r, data, diags
	}
	text, err := marshalYAML(doc.Root)
	if err != nil {
		d := fileStart.diagnostic(doc.File, Error, "can't encode the recipe: "+err.Error(), "")
		diags = append(diags, d.withRule("yaml"))
	}
	return r, []byte(text), diags
}
