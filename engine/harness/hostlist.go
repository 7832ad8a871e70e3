package harness

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// maxHosts bounds an expanded host list. No cluster is that large.
const maxHosts = 65536

// hostItem matches the text between commas outside brackets.
var hostItem = regexp.MustCompile(`(\[[^]]*]?|[^,[])+`)

// expandHosts expands Slurm's compressed form, such as gb[01-03,07],x9, into names in the given
// order without duplicates. A name may have several bracket groups.
func expandHosts(list string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, item := range hostItem.FindAllString(list, -1) {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		names, err := expandHost(item)
		if err != nil {
			return nil, fmt.Errorf("host list %q: %w", safetext.Clip(list, 80), err)
		}
		for _, n := range names {
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
		if len(out) > maxHosts {
			return nil, problem.Errorf(problem.ArtifactInvalid, "host list %q: more than %d names",
				safetext.Clip(list, 80), maxHosts)
		}
	}
	return out, nil
}

// expandHost expands one item: the text before the first brackets, the text in them and,
// recursively, the rest.
func expandHost(item string) ([]string, error) {
	head, rest, grouped := strings.Cut(item, "[")
	if bad := strings.IndexAny(head, "]$<>{}()* \t"); bad >= 0 {
		return nil, problem.Errorf(problem.ArtifactInvalid, "unexpected %q", head[bad])
	}
	if !grouped {
		return []string{head}, nil
	}
	group, rest, closed := strings.Cut(rest, "]")
	if !closed {
		return nil, problem.New(problem.ArtifactInvalid, "bracket is not closed")
	}
	ids, err := expandRanges(group)
	if err != nil {
		return nil, err
	}
	tails, err := expandHost(rest)
	if err != nil {
		return nil, err
	}
	if len(ids)*len(tails) > maxHosts {
		return nil, problem.Errorf(problem.ArtifactInvalid, "more than %d names", maxHosts)
	}
	var names []string
	for _, id := range ids {
		for _, tail := range tails {
			names = append(names, head+id+tail)
		}
	}
	return names, nil
}

// expandRanges expands "01-03,07". Numbers are padded to the width of the first one.
func expandRanges(s string) ([]string, error) {
	var ids []string
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			hi = lo
		}
		from, err1 := strconv.ParseUint(lo, 10, 48)
		to, err2 := strconv.ParseUint(hi, 10, 48)
		if err1 != nil || err2 != nil || to < from {
			return nil, problem.Errorf(problem.ArtifactInvalid, "invalid range %q", part)
		}
		if to-from >= maxHosts || len(lo) > 18 {
			return nil, problem.Errorf(problem.ArtifactInvalid, "range %q: more than %d names", part, maxHosts)
		}
		for i := from; i <= to; i++ {
			ids = append(ids, fmt.Sprintf("%0*d", len(lo), i))
		}
		if len(ids) > maxHosts {
			return nil, problem.Errorf(problem.ArtifactInvalid, "more than %d names", maxHosts)
		}
	}
	return ids, nil
}
