package recipes

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Service is an additional process of a job, in layout 2.
type Service struct {
	Path      string // canonical, such as services[0]
	Name      string
	Type      string // generic if the file names none
	Enabled   bool
	External  string   // address of a running service that is used instead; empty: it is started
	Node      string   // where it runs: head, dedicated …
	Nodes     int      // nodes of its pool, in addition to those of workers; 0: it has none
	PayloadMB int      // limit of a NATS message; 0: not set
	Command   []string // with its arguments, of a generic service
}

// Is reports whether the service is of a kind, by its type or its name: one that is named etcd or
// nats replaces the one that srtctl starts.
func (s Service) Is(kind schema.Role) bool { return s.Type == string(kind) || s.Name == string(kind) }

// Infra is how a job gets etcd or NATS.
type Infra struct {
	Starts   bool     // the job starts it
	External string   // address of a running one, which is used instead; empty: none
	Path     string   // canonical path of the service in the recipe; empty: it is started without one
	Command  []string // that starts it, instead of the usual one
}

// Infra returns how a job gets etcd or NATS. A service of the recipe replaces the one that srtctl starts
// otherwise: etcd always, NATS if a plane uses it or its payload limit is set.
func (r *Recipe) Infra(kind schema.Role) Infra {
	declared := slices.DeleteFunc(slices.Clone(r.Services), func(s Service) bool { return !s.Is(kind) })
	i := slices.IndexFunc(declared, func(s Service) bool { return s.Enabled })
	switch {
	case i >= 0:
		s := declared[i]
		in := Infra{Starts: s.External == "", External: s.External, Path: s.Path}
		if s.Type == genericService {
			in.Command = s.Command
		}
		return in
	case len(declared) > 0:
		return Infra{Path: declared[0].Path}
	case kind == schema.NATS: // a dedicated node in layout 1 is one for both
		return Infra{Starts: r.Dynamo.RequestPlane == NATSPlane || r.Dynamo.EventPlane == NATSPlane ||
			r.NATSPayloadMB > 0 || r.Schema == 1 && r.DedicatedInfra}
	}
	return Infra{Starts: true}
}

// genericService is the type of services that run any command.
const genericService = "generic"

// readServices returns the services of a recipe.
func (v *values) readServices() []Service {
	list, ok := v.byName["services"]
	if !ok || list.node.Kind != yaml.SequenceNode {
		return nil
	}
	var out []Service
	for i := range list.node.Content {
		path := fmt.Sprintf("services[%d]", i)
		s := Service{
			Path: path, Name: v.str(path + ".name"), Type: v.str(path + ".type"), Enabled: v.bool(path + ".enabled"),
			External: v.str(path + ".external"), Node: v.str(path + ".placement.node"), Nodes: v.int(path + ".nodes"),
		}
		s.Command = slices.Concat(v.strings(path+".command"), v.strings(path+".args"))
		if n := lookup(v.byName[path+".options"].node, natsPayloadOption); n != nil {
			if r, ok := parseNumber(resolveAlias(n)); ok && r.IsInt() && r.Num().IsInt64() {
				s.PayloadMB = int(r.Num().Int64())
			}
		}
		out = append(out, s)
	}
	return out
}

// natsPayloadOption is the option of nats services.
const natsPayloadOption = "max_payload_mb"

// PoolNodes returns the number of nodes that services have in addition to those of the workers.
func (r *Recipe) PoolNodes() int {
	n := 0
	for _, s := range r.Services {
		if s.Enabled {
			n += s.Nodes
		}
	}
	return n
}

// singletons are the types of services that can run on a dedicated node or elsewhere.
var singletons = []string{string(schema.Etcd), string(schema.NATS), "mooncake-master"}

// services checks the services.
func (l *loadRules) services() {
	owners := map[string]bool{}
	for _, s := range l.r.Services {
		owners[s.Name] = owners[s.Name] || s.Nodes > 0
	}
	seen := map[string]bool{}
	for _, s := range l.r.Services {
		if s.Name != "" && seen[s.Name] {
			l.service(s, ".name", "give it another name", "a second service named %q", s.Name)
		}
		seen[s.Name] = true
		l.serviceCommand(s)
		l.servicePlacement(s, owners)
		l.serviceReadiness(s)
		l.serviceOptions(s)
		if l.bool(s.Path+".terminal") && l.r.Benchmark.Type != "manual" {
			l.service(s, ".terminal", "use benchmark manual, or remove it",
				"a terminal service ends a job without a client, but the benchmark is %s", l.r.Benchmark.Type)
		}
	}
	l.infraTogether()
}

// service adds an error about a field of a service.
func (l *loadRules) service(s Service, key, fix, format string, args ...any) {
	l.refuse("services", s.Path+key, fix, format, args...)
}

func (l *loadRules) serviceCommand(s Service) {
	command := s.Path + ".command"
	switch texts := l.strings(command); {
	case s.Type == genericService && len(texts) == 0 && !l.hasFinding(s.Path+".type"):
		l.service(s, ".command", "add it", "required by a generic service")
	case slices.Contains(texts, ""):
		l.service(s, ".command", "remove it", "an empty argument")
	}
	if l.has(s.Path+".source") && (s.Nodes > 1 || !slices.Contains([]string{"head", "infra", "dedicated"}, s.Node)) {
		l.service(s, ".source", "place it on head", "a service that is built from source runs on a single node")
	}
	if s.External != "" && !slices.Contains(singletons, s.Type) {
		l.service(s, ".external", "remove it", "only for %s, got %s", strings.Join(singletons, ", "), s.Type)
	}
}

func (l *loadRules) servicePlacement(s Service, owners map[string]bool) {
	if s.Node == "dedicated" && !slices.Contains(singletons, s.Type) {
		l.service(s, ".placement.node", "use another node", "dedicated is only for %s, got %s",
			strings.Join(singletons, ", "), s.Type)
	}
	if s.Nodes > 0 && l.has(s.Path+".placement.node") && s.Node != "workers" {
		l.service(s, ".placement.node", "write workers, or remove it", "a service with a pool runs on its own nodes, got %s",
			s.Node)
	}
	if pool := l.str(s.Path + ".placement.pool"); pool != "" && !owners[pool] {
		l.service(s, ".placement.pool", "name a service with nodes", "no service %q with a pool of nodes", pool)
	}
}

// serviceReadiness checks that a service has one probe.
func (l *loadRules) serviceReadiness(s Service) {
	path := s.Path + ".readiness"
	var probes []string
	for _, key := range probeKeys {
		if l.has(path + "." + key) {
			probes = append(probes, key)
		}
	}
	perWorker := l.str(s.Path+".placement.per") == "worker"
	switch {
	case !l.has(path):
	case len(probes) > 1:
		l.service(s, ".readiness", "keep one", "more than one probe: %s", strings.Join(probes, " and "))
	case len(probes) == 0 && !anyProbe(l.byName[path].node):
		l.service(s, ".readiness", "add one of port, tcp, http and log", "no probe")
	case perWorker && len(probes) == 1 && probes[0] != "log":
		l.service(s, ".readiness", "use log",
			"one process per worker has no port of its own: only log can tell when it is ready")
	}
}

// probeKeys are the ways in which a service can tell that it is ready.
var probeKeys = []string{"port", "tcp", "http", "log"}

// anyProbe reports whether the block names a probe, be it an invalid one, which is an error of its own.
func anyProbe(readiness *yaml.Node) bool {
	return slices.ContainsFunc(probeKeys, func(key string) bool {
		n := lookup(readiness, key)
		return n != nil && !isNull(n)
	})
}

// serviceOptions checks the options of nats. Those of other types are not known.
func (l *loadRules) serviceOptions(s Service) {
	if s.Type != string(schema.NATS) {
		return
	}
	for _, kv := range pairs(l.byName[s.Path+".options"].node) {
		if kv[0].Value != natsPayloadOption {
			l.service(s, ".options", "use "+natsPayloadOption, "nats has no option %q", kv[0].Value)
		} else if s.PayloadMB < 1 {
			l.service(s, ".options", "write a whole number of MB", "%s: expected int ≥ 1, got %s", natsPayloadOption,
				describe(resolveAlias(kv[1])))
		}
	}
}

// infraTogether checks that etcd and NATS have the same node.
func (l *loadRules) infraTogether() {
	var declared []Service
	for _, s := range l.r.Services {
		if s.Enabled && s.External == "" && (s.Is(schema.Etcd) || s.Is(schema.NATS)) {
			declared = append(declared, s)
		}
	}
	for _, s := range declared {
		if s.Node != "dedicated" && slices.ContainsFunc(declared, func(o Service) bool { return o.Node == "dedicated" }) {
			l.service(s, ".placement.node", "place both on a dedicated node, or neither",
				"etcd and nats need the same node, got %s", s.Node)
		}
	}
}
