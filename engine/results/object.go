package results

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Object is a JSON object with ordered members.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Name  string
	Value any
}

// Add appends a member.
func (o *Object) Add(name string, value any) { *o = append(*o, Member{name, value}) }

// MarshalJSON writes the members in their order.
func (o Object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // the outer encoder escapes it
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := enc.Encode(m.Name); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		out.WriteByte(':')
		if err := enc.Encode(m.Value); err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
