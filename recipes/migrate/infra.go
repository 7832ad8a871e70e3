package migrate

import (
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes"
)

// moveInfra replaces infra by the services etcd and NATS with the settings that the recipes of the
// section have. An override has all of them, since its list replaces that of the base.
func (m *migration) moveInfra(e entry) error {
	dedicated, same := common(m.section, func(r *recipes.Recipe) bool { return r.DedicatedInfra })
	payload, same2 := common(m.section, func(r *recipes.Recipe) int { return r.NATSPayloadMB })
	if !same || !same2 {
		return m.refuse(e.node, e.key, "the settings differ between the recipes of %s; write an override for each",
			m.section.where())
	}
	var children []entry
	if e.node.Kind != yaml.ScalarNode {
		var err error
		if children, err = m.children(e); err != nil {
			return err
		}
	}
	const payloadPath = "infra.nats_max_payload_mb"
	why := m.removed(payloadPath)
	if why != "" {
		payload = 0
	}
	above := e.comments
	beside := map[string]string{}
	limit := strconv.Itoa(payload)
	for _, k := range children {
		if k.key == "nats_max_payload_mb" {
			if why != "" {
				m.remove(payloadPath, why, k)
				continue
			}
			limit = k.node.Value
		}
		above += reindent(k.comments, e.indent-k.indent, m.eol)
		beside[k.key] = k.keyComment()
	}
	to := entry{key: "services", comments: reindent(above+m.lineComment(e), -e.indent, m.eol), node: e.node}
	switch base := m.recipesOf("base"); {
	case dedicated || payload > 0:
		to.value = m.eol + serviceLines(dedicated, payload > 0, limit, beside, m.eol)
	case !m.section.complete && len(base) > 0 && (base[0].DedicatedInfra || base[0].NATSPayloadMB > 0):
		to.value = " null" + m.eol
	default:
		for _, k := range []string{"etcd_nats_dedicated_node", "nats_max_payload_mb"} {
			if c := strings.TrimSpace(beside[k]); c != "" {
				to.comments += c + m.eol
			}
		}
		m.pending += to.comments
		return nil
	}
	m.putAt([]string{"services"}, to)
	return nil
}

// serviceLines returns the services etcd and NATS. beside are the comments beside the fields of infra.
func serviceLines(dedicated, payload bool, limit string, beside map[string]string, eol string) string {
	const place = "    placement: {node: dedicated}"
	var lines []string
	if dedicated {
		lines = append(lines, "  - name: etcd", "    type: etcd", place+beside["etcd_nats_dedicated_node"])
	}
	lines = append(lines, "  - name: nats", "    type: nats")
	if dedicated {
		lines = append(lines, place)
	}
	if payload {
		lines = append(lines, "    options: {max_payload_mb: "+limit+"}"+beside["nats_max_payload_mb"])
	}
	return strings.Join(lines, eol) + eol
}
