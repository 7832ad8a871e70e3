package plan

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Placeholder is a value that is unknown before the run; [Plan.Bind] replaces it. A plan shows it in
// braces: {job_id}.
type Placeholder string

// The placeholders of every plan.
const (
	JobID  Placeholder = "job_id"
	RunDir Placeholder = "run_dir" // the run directory
	LogDir Placeholder = "log_dir" // the log directory
	Binary Placeholder = "bin"     // this program
)

// NodeName is the name of a node of the allocation.
func NodeName(node int) Placeholder { return Placeholder("node:" + strconv.Itoa(node)) }

// NodeAddress is the address of a node of the allocation.
func NodeAddress(node int) Placeholder { return Placeholder("ip:" + strconv.Itoa(node)) }

// StepPort is the port of a local step.
func StepPort(step string) Placeholder { return Placeholder("port:" + step) }

// Values are the values of placeholders.
type Values map[Placeholder]string

// mark delimits placeholders while a plan is built or bound. No text of a recipe, no argument of a program
// and no path contains it.
const mark = "\x00"

// text returns the placeholder for a text of a plan that is being built.
func (p Placeholder) text() string { return mark + string(p) + mark }

// placeholderName matches the names of placeholders.
const placeholderName = `(job_id|run_dir|log_dir|bin|(?:node|ip):[0-9]+|port:[^{}]+)`

var marked = regexp.MustCompile(mark + placeholderName + mark)

// spelling is a way to write placeholders: with a number of braces on each side.
type spelling struct {
	braces int
	found  *regexp.Regexp
}

func newSpelling(braces int) spelling {
	braces = max(1, braces)
	found := strings.Repeat(`\{`, braces) + placeholderName + strings.Repeat(`\}`, braces)
	return spelling{braces, regexp.MustCompile(found)}
}

// write returns a marked text with its placeholders in braces.
func (s spelling) write(text string) string {
	if !strings.Contains(text, mark) {
		return text
	}
	return marked.ReplaceAllString(text, strings.Repeat("{", s.braces)+"$1"+strings.Repeat("}", s.braces))
}

// read is the reverse of write.
func (s spelling) read(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	return s.found.ReplaceAllString(text, mark+"$1"+mark)
}

// spell returns a plan whose placeholders are marked with its placeholders in braces. If a text of the
// recipe looks like a placeholder, they get more braces than that text, so that each can be told from the
// other.
func (p *Plan) spell() *Plan {
	for braces := 1; ; braces++ {
		s, unique := newSpelling(braces), true
		out := p.mapText(func(text string) string {
			written := s.write(text)
			unique = unique && s.read(written) == text
			return written
		})
		if unique {
			if out.Braces = 0; braces > 1 {
				out.Braces = braces
			}
			return out
		}
	}
}

// Bind returns a copy of the plan with the placeholders that have a value replaced by it.
func (p *Plan) Bind(values Values) *Plan {
	s := newSpelling(p.Braces)
	return p.mapText(func(text string) string {
		return marked.ReplaceAllStringFunc(s.read(text), func(found string) string {
			if value, ok := values[Placeholder(strings.Trim(found, mark))]; ok {
				return value
			}
			return found
		})
	}).spell()
}

// Placeholders returns the unbound placeholders of the plan, sorted.
func (p *Plan) Placeholders() []Placeholder {
	s := newSpelling(p.Braces)
	var found []Placeholder
	p.mapText(func(text string) string {
		for _, m := range s.found.FindAllStringSubmatch(text, -1) {
			found = append(found, Placeholder(m[1]))
		}
		return text
	})
	slices.Sort(found)
	return slices.Compact(found)
}
