package porter

import (
	"strings"
	"testing"
)

// onNode moves the services with a name to a node.
func (d *runDir) onNode(service, node string) {
	d.t.Helper()
	d.launch(" "+service+" ", func(line string) string {
		return strings.ReplaceAll(strings.ReplaceAll(line, "--nodelist gb300-r07-n09", "--nodelist "+node),
			service+" gb300-r07-n09", service+" "+node)
	})
}

// Services that did not run where a new job starts them.
func TestUnusualServices(t *testing.T) {
	t.Parallel()
	for _, c := range []unusualCase{
		{
			name: "frontend on the decode node",
			edit: func(d *runDir) {
				d.onNode("frontend", "gb300-r07-n01")
				d.replace("client.log", "gb300-r07-n09:8333", "gb300-r07-n01:8333")
			},
			want:   map[string]string{"frontend.orchestrator_placement": "first_decode"},
			silent: []string{"orchestrator_placement"},
		},
		{
			name: "frontend on a prefill node",
			edit: func(d *runDir) { d.onNode("frontend", "gb300-r07-n11") },
			want: map[string]string{"frontend.orchestrator_placement": "head"},
			asked: []string{
				"confirm recipe:frontend.orchestrator_placement: the frontend ran on gb300-r07-n11, which CTX 2 used; in the new " +
					"job it runs on the first node of CTX 0 (gb300-r07-n09 in the old run)",
			},
		},
		{
			name: "frontend on another node of the decode worker",
			edit: func(d *runDir) { d.onNode("frontend", "gb300-r07-n02") },
			want: map[string]string{"frontend.orchestrator_placement": "head"},
			asked: []string{
				"confirm recipe:frontend.orchestrator_placement: the frontend ran on gb300-r07-n02, which GEN 0 used; in the new " +
					"job it runs on the first node of CTX 0 (gb300-r07-n09 in the old run)",
			},
		},
		{
			name: "services on the decode node",
			edit: func(d *runDir) {
				d.onNode("frontend", "gb300-r07-n01")
				d.onNode("etcd", "gb300-r07-n01")
			},
			want: map[string]string{"frontend.orchestrator_placement": "first_decode"},
			asked: []string{
				"confirm …#node: etcd ran on gb300-r07-n01, which GEN 0 used; in the new job it runs on the first node of " +
					"CTX 0 (gb300-r07-n09 in the old run): give it a dedicated node if that matters",
			},
		},
	} {
		t.Run(c.name, c.run)
	}
}
