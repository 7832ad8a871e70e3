package harness

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentperf/agentperf-tui/recipes/safetext"
)

// maxHosts bounds an expanded host list; no cluster is that large.
const maxHosts = 65536

// expandHosts expands Slurm's compressed form, gb[01-03,07],x9, into names in
// the order given, duplicates once. Several bracket groups in one name multiply.
func expandHosts(list string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, item := range splitHosts(list) {
		if item == "" {
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
			return nil, fmt.Errorf("host list %q: more than %d names", safetext.Clip(list, 80), maxHosts)
		}
	}
	return out, nil
}

// splitHosts cuts at the commas outside brackets.
func splitHosts(list string) []string {
	var items []string
	depth, from := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth <= 0 {
				items = append(items, strings.TrimSpace(list[from:i]))
				from = i + 1
			}
		}
	}
	return append(items, strings.TrimSpace(list[from:]))
}

func expandHost(item string) ([]string, error) {
	heads := []string{""}
	for item != "" {
		open := strings.IndexByte(item, '[')
		if open < 0 {
			open = len(item)
		}
		plain := item[:open]
		if bad := strings.IndexAny(plain, "]$<>{}()* \t"); bad >= 0 {
			return nil, fmt.Errorf("unexpected %q", plain[bad])
		}
		parts := []string{plain}
		item = item[open:]
		if item != "" {
			shut := strings.IndexByte(item, ']')
			if shut < 0 {
				return nil, fmt.Errorf("bracket is not closed")
			}
			ids, err := expandRanges(item[1:shut])
			if err != nil {
				return nil, err
			}
			parts = parts[:0]
			for _, id := range ids {
				parts = append(parts, plain+id)
			}
			item = item[shut+1:]
		}
		if len(heads)*len(parts) > maxHosts {
			return nil, fmt.Errorf("more than %d names", maxHosts)
		}
		next := make([]string, 0, len(heads)*len(parts))
		for _, h := range heads {
			for _, p := range parts {
				next = append(next, h+p)
			}
		}
		heads = next
	}
	return heads, nil
}

// expandRanges expands "01-03,07"; the width of the first number is kept.
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
			return nil, fmt.Errorf("range %q", part)
		}
		if to-from >= maxHosts || len(lo) > 18 {
			return nil, fmt.Errorf("range %q: more than %d names", part, maxHosts)
		}
		for i := from; i <= to; i++ {
			ids = append(ids, fmt.Sprintf("%0*d", len(lo), i))
		}
		if len(ids) > maxHosts {
			return nil, fmt.Errorf("more than %d names", maxHosts)
		}
	}
	return ids, nil
}
