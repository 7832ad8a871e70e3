package recipes

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// dynamoSource checks that the recipe names one source of dynamo.
func (l *loadRules) dynamoSource() {
	fail := func(name, fix, format string, args ...any) { l.refuse("dynamo-source", name, fix, format, args...) }
	git, pypi := "dynamo.hash", "dynamo.version"
	var given []string
	if l.has(git) || l.has("dynamo.source.git") {
		given = append(given, git)
	}
	for _, name := range []string{pypi, "dynamo.wheel"} {
		if l.has(name) && (l.r.Schema == 2 || name != pypi) { // in layout 1, another source overrides the version
			given = append(given, name)
		}
	}
	if l.bool("dynamo.top_of_tree") {
		given = append(given, "dynamo.top_of_tree")
	}
	paths := make([]string, 0, len(given))
	for _, name := range given {
		paths = append(paths, l.r.Position(name).Path)
	}
	if len(given) > 1 {
		fail(given[1], "remove all but one", "more than one source of dynamo: %s", strings.Join(paths, " and "))
	}
	if l.has("dynamo.cargo_patches") && !slices.Contains(given, git) {
		fail("dynamo.cargo_patches", "add "+l.r.Position(git).Path, "cargo patches require a revision of dynamo")
	}
	if l.r.Schema == 2 && l.has("dynamo.source") {
		l.dynamoRevision(slices.Contains(given, git), len(given) > 0)
	}
}

// dynamoRevision checks the source block of layout 2. fromGit is true if it names a repository or a
// revision, and given if it names any source.
func (l *loadRules) dynamoRevision(fromGit, given bool) {
	fail := func(name, fix, format string, args ...any) { l.refuse("dynamo-source", name, fix, format, args...) }
	const git = "dynamo.hash"
	switch {
	case !given && len(l.byName["dynamo.source"].node.Content) == 0:
		fail("dynamo.source", "name one source, or remove it", "no source: expected one of git with rev, pypi and wheel")
	case l.has("dynamo.source.git") && !l.has(git):
		fail("dynamo.source.git", "add rev: a commit or a tag", "a repository without a revision")
	case l.has("dynamo.source.sha") && !fromGit:
		fail("dynamo.source.sha", "remove it", "a commit without a revision")
	}
	if rev := l.str(git); slices.Contains([]string{"main", "master", "HEAD"}, strings.TrimPrefix(rev, "refs/heads/")) {
		fail(git, "use a commit or a tag", "%s moves: the run could not be repeated", rev)
	}
}

// phases are the profiled parts by role.
var phases = []struct {
	name string
	role schema.Role
}{{"profiling.prefill", schema.Prefill}, {"profiling.decode", schema.Decode}, {"profiling.aggregated", schema.Agg}}

// profiling checks that the profiler has what it needs.
func (l *loadRules) profiling() {
	r, profiler := l.r, l.str("profiling.type")
	fail := func(name, fix, format string, args ...any) { l.refuse("profiling", name, fix, format, args...) }
	engine := schema.FindEngine(r.Engine.Type)
	if profiler == engine.UnsupportedProfiler {
		fail("profiling.type", "use nsys or nsys-time", "%s can't profile %s", profiler, engine.Name)
		return
	}
	switch profiler {
	case "nsys-time":
		for _, name := range []string{"profiling.delay_secs", "profiling.duration_secs"} {
			if !l.has(name) {
				fail(name, "add it", "required by nsys-time")
			}
		}
	case "nsys", "torch":
		for _, p := range phases {
			wanted := (p.role == schema.Agg) != r.Disaggregated()
			switch given := l.has(p.name); {
			case wanted && !given:
				fail(p.name, "add it", "required by %s: what to capture of the %s workers", profiler, p.role)
			case given && !wanted:
				fail(p.name, "remove it", "the recipe has no %s workers", p.role)
			case given:
				l.phase(p.name, r.Role(p.role))
			}
		}
	}
}

// phase checks what is captured of a role.
func (l *loadRules) phase(name string, role Role) {
	if role.Workers == 0 {
		l.refuse("profiling", name, "remove it", "the recipe has no %s workers", role.Name)
		return
	}
	if l.r.Engine.Type == schema.TRTLLM {
		return
	}
	for _, bound := range []struct {
		key, what string
		n         int
	}{{"worker_index", "workers", role.Workers}, {"worker_rank", "ranks", l.r.GPUsPerWorker(role)}} {
		if i := l.int(name + "." + bound.key); i >= bound.n {
			l.refuse("profiling", name+"."+bound.key, "use a smaller number",
				"%d, but there are %d %s, counted from 0", i, bound.n, bound.what)
		}
	}
}

// benchmarkFields refuses fields that the type of benchmark does not read, unless they have their
// defaults.
func (l *loadRules) benchmarkFields() {
	if l.hasFinding("benchmark.type") {
		return
	}
	for _, name := range l.names() {
		val := l.byName[name]
		if of := val.field.Benchmarks; of == nil || slices.Contains(of, l.r.Benchmark.Type) || !val.differs() {
			continue
		}
		l.refuse("benchmark-fields", name, "remove it", "%s does not read this field; layout 2 rejects unused fields",
			l.r.Benchmark.Type).Unset(true)
	}
}

// UnreadBy returns the canonical paths of the fields that a type of benchmark does not read. Layout 1
// accepts them, layout 2 rejects them.
func UnreadBy(benchmark string) []string {
	var out []string
	for _, f := range schema.Recipe(1).Fields() {
		gone := strings.HasPrefix(f.V1, "benchmark.") && f.V2 == "" && f.NotApplied != ""
		if f.V1 != "" && (gone || f.Benchmarks != nil && !slices.Contains(f.Benchmarks, benchmark)) {
			out = append(out, f.V1)
		}
	}
	return out
}

// nsysBenchmarks are the benchmarks whose warmup a profiler can tell from their workload.
var nsysBenchmarks = []string{"sa-bench", "sglang-bench", "trace-replay", "mooncake-router", "custom", "manual"}

// observability checks what is profiled while observability is on.
func (l *loadRules) observability() {
	if l.r.Observability && l.bool("observability.nsys.enabled") &&
		l.str("observability.nsys.capture_window") == "measured_workload" && l.str("profiling.type") == "none" &&
		!slices.Contains(nsysBenchmarks, l.r.Benchmark.Type) {
		l.refuse("nsys-window", "observability.enabled",
			"set observability.nsys.enabled: false, or observability.nsys.capture_window: including_startup, "+
				"or a profiling.type",
			"nsys would profile the measured workload, which srtctl can't tell from the warmup of %s", l.r.Benchmark.Type)
	}
}

// dcgmBenchmarks are the benchmarks during which srtctl measures the power of GPUs.
var dcgmBenchmarks = []string{"sa-bench", "custom", "manual"}

// telemetry checks the measurement of power. The rules are those of the newest srtctl; they change
// between versions.
func (l *loadRules) telemetry() {
	r := l.r
	fail := func(name, fix, format string, args ...any) {
		l.refuse("telemetry", name, fix, format+" (depends on the version of srtctl)", args...)
	}
	on := l.bool("telemetry.enabled")
	const cpu = "telemetry.cpu_power"
	switch {
	case l.bool(cpu+".enabled") && !on:
		fail(cpu+".enabled", "set telemetry.enabled: true", "telemetry is not enabled")
	case !l.bool(cpu+".enabled") && l.isSet(cpu+".required"):
		fail(cpu+".required", "set "+cpu+".enabled: true", "the power of CPUs is not measured")
	case !l.bool(cpu+".enabled") && l.isSet(cpu+".source"):
		fail(cpu+".source", "set "+cpu+".enabled: true", "the power of CPUs is not measured")
	}
	const join = "telemetry.collector_join_timeout_seconds"
	request := l.number("telemetry.request_timeout_seconds")
	if wait := l.number(join); l.has(join) && wait <= 2*(2*request+1) {
		fail(join, "use a larger number", "expected more than 2 × (2 × %g + 1) s, got %g s", request, wait)
	}
	const dcgm = "telemetry.dcgm_exporter"
	if !on || !l.has(dcgm) {
		return
	}
	levels := slices.Clone(r.Benchmark.Levels)
	slices.Sort(levels)
	switch {
	case !slices.Contains(dcgmBenchmarks, r.Benchmark.Type):
		fail(dcgm, "remove it", "srtctl refuses it with the benchmark %s: it works with %s", r.Benchmark.Type,
			strings.Join(dcgmBenchmarks, ", "))
	case r.Benchmark.Placement != "head" || r.Benchmark.Dedicated:
		fail(dcgm, "place the client on head", "requires the client on the head node")
	case r.DedicatedInfra:
		fail(dcgm, "do not dedicate a node", "requires etcd and NATS without a dedicated node")
	case len(slices.Compact(levels)) != len(r.Benchmark.Levels):
		fail(dcgm, "remove the repeated levels", "requires concurrency levels that differ")
	case l.int("telemetry.collect_interval_ms") > maxDCGMInterval:
		fail("telemetry.collect_interval_ms", "use a smaller number", "at most %d ms with dcgm_exporter", maxDCGMInterval)
	}
}

// maxDCGMInterval is the longest interval between samples of GPU power, in ms.
const maxDCGMInterval = 3000

// number returns the value of a field, or its default.
func (v *values) number(name string) float64 {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: v.str(name)}
	if r, ok := parseNumber(n); ok {
		f, _ := r.Float64()
		return f
	}
	return 0
}
