package schema

// Role is what a node or a process of a run is there for, as recipes, plans and logs spell it.
type Role string

// The roles. An aggregated worker does prefill and decode in one engine; Infra
// stands for etcd and NATS where a node is reserved for both.
const (
	Prefill  Role = "prefill"
	Decode   Role = "decode"
	Agg      Role = "agg"
	Frontend Role = "frontend"
	Client   Role = "client"
	Infra    Role = "infra"
	Etcd     Role = "etcd"
	NATS     Role = "nats"
)

// WorkerRoles lists the roles of engine workers in the order in which they are placed and shown.
func WorkerRoles() []Role { return []Role{Prefill, Decode, Agg} }

// Layout1 is a worker role as paths of layout 1 spell it where they belong to the
// engine: aggregated for agg.
func (r Role) Layout1() string {
	if r == Agg {
		return "aggregated"
	}
	return string(r)
}

// NodesPath is the canonical path of the number of a role's nodes.
func (r Role) NodesPath() string { return "resources." + string(r) + "_nodes" }

// WorkersPath is the canonical path of the number of a role's workers.
func (r Role) WorkersPath() string { return "resources." + string(r) + "_workers" }

// GPUsPath is the canonical path of the number of GPUs of one worker of a role.
func (r Role) GPUsPath() string { return "resources.gpus_per_" + string(r) }

// EnvPath is the canonical path of the environment of a role's workers.
func (r Role) EnvPath() string { return "backend." + r.Layout1() + "_environment" }

// ConfigPath is the canonical path of the engine configuration of a role's workers.
// Layout 2 has one place for that of every engine: its canonical path is [TRTLLM]'s.
func (r Role) ConfigPath(engine string) string {
	return "backend." + engine + "_config." + r.Layout1()
}
