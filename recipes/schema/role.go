package schema

// Role is the purpose of a node or process in a run, as spelled in recipes, plans and logs.
type Role string

// The roles. An agg (aggregated) worker does both prefill and decode. Infra is a node
// that is reserved for etcd and NATS.
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

// WorkerRoles returns the roles of workers in the order in which they are placed and shown.
func WorkerRoles() []Role { return []Role{Prefill, Decode, Agg} }

// Layout1Name returns the name of a worker role in the engine's fields of layout 1:
// aggregated for agg.
func (r Role) Layout1Name() string {
	if r == Agg {
		return "aggregated"
	}
	return string(r)
}

// NodesPath returns the canonical path of a role's number of nodes.
func (r Role) NodesPath() string { return "resources." + string(r) + "_nodes" }

// WorkersPath returns the canonical path of a role's number of workers.
func (r Role) WorkersPath() string { return "resources." + string(r) + "_workers" }

// GPUsPath returns the canonical path of the GPUs per worker of a role.
func (r Role) GPUsPath() string { return "resources.gpus_per_" + string(r) }

// EnvPath returns the canonical path of the environment of a role's workers.
func (r Role) EnvPath() string { return "backend." + r.Layout1Name() + "_environment" }

// ConfigPath returns the canonical path of the engine configuration of a role's workers.
// Layout 2 has one field for all engines; its canonical path is that of [TRTLLM].
func (r Role) ConfigPath(engine string) string {
	return "backend." + engine + "_config." + r.Layout1Name()
}
