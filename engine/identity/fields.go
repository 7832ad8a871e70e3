package identity

import (
	"cmp"
	"strconv"
)

// Field is one thing that is known of a run.
type Field struct{ Path, Value string }

// Fields are all that is known, in a fixed order, for people and comparisons.
// Times are left out: a copy is the same file.
func (id Identity) Fields() []Field {
	var out []Field
	add := func(path, value string) {
		if value != "" {
			out = append(out, Field{path, value})
		}
	}
	file := func(path string, f File) {
		if f.SHA256 == "" {
			return
		}
		add(path+".size", strconv.FormatInt(f.Size, 10))
		add(path+".sha256", f.SHA256)
		if f.Hashed != whole {
			add(path+".hashed", f.Hashed)
		}
	}
	add("client.commit", id.Client.String())
	for _, d := range id.Datasets {
		add(d.Key, d.Path)
		file(d.Key, d)
	}
	if id.Model != nil {
		add("model.path", cmp.Or(id.Model.Resolved, id.Model.Path))
		add("model.revision", cmp.Or(id.Model.Revision, id.Model.Expected))
		for _, f := range id.Model.Files {
			file("model."+f.Key, f)
		}
	}
	if id.Image != nil {
		add("image", id.Image.Name)
		if id.Image.File != nil {
			file("image", *id.Image.File)
		}
	}
	add("recipe.sha256", id.Recipe)
	add("workload.sha256", id.Workload)
	add("plan.sha256", id.Plan)
	for _, t := range id.Tools {
		add("tool."+t.Name, t.Version)
	}
	return out
}

// Dataset is a hash over all datasets; empty while one of them is not known.
func (id Identity) Dataset() string {
	text := ""
	for _, d := range id.Datasets {
		if d.SHA256 == "" {
			return ""
		}
		text += d.Key + " " + d.SHA256 + "\n"
	}
	return Sum([]byte(text))
}
