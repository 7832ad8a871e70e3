package migrate

import (
	"strings"
)

// services is what layout 1 calls infra.
type services struct {
	lead      string
	at        int // in the result
	dedicated bool
	payload   string
}

// infra reads the mapping; where nothing of it is said there is nothing to write.
func (m *migration) infra(e entry) error {
	kids, err := m.children(e)
	if err != nil {
		return err
	}
	s := services{lead: e.lead, at: len(m.out)}
	for _, k := range kids {
		s.lead += shift(k.lead, e.indent-k.indent, m.eol)
		switch k.key {
		case "etcd_nats_dedicated_node":
			s.dedicated = strings.EqualFold(k.node.Value, "true")
		case "nats_max_payload_mb":
			if k.node.ShortTag() != "!!null" {
				s.payload = k.node.Value
			}
		}
	}
	m.services = s
	return nil
}

// place writes etcd and NATS as services.
func (s services) place(m *migration) {
	if !s.dedicated && s.payload == "" {
		return
	}
	var b strings.Builder
	b.WriteString(m.eol)
	line := func(text string) { b.WriteString("  " + text + m.eol) }
	if s.dedicated {
		line("- name: etcd")
		line("  type: etcd")
		line("  placement: {node: dedicated}")
	}
	line("- name: nats")
	line("  type: nats")
	if s.dedicated {
		line("  placement: {node: dedicated}")
	}
	if s.payload != "" {
		line("  options: {max_payload_mb: " + s.payload + "}")
	}
	e := entry{key: "services", lead: s.lead, value: b.String()}
	m.out = append(m.out[:s.at:s.at], append([]entry{e}, m.out[s.at:]...)...)
}
