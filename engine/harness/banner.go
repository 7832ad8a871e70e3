package harness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
)

// bannerLimit is how much of client.log is read, in bytes. The banner is at the beginning;
// thousands of log lines follow.
const bannerLimit = 4 << 20

// bannerLabels are the labels of the client's resolved configuration, exactly as printed.
var bannerLabels = map[string]bool{
	"Base URL": true, "Model": true, "Server type": true, "Concurrencies": true, "Max workers": true,
	"Connection pool": true, "Phase Timeout": true, "Max ISL offset": true, "User assignments": true,
	"Max tokens": true, "Reasoning effort": true, "Tool-call delays": true, "Conversation routing headers": true,
	"Dynamo conv-aware routing (X-Dynamo-Session-ID)": true, "Power sampling": true, "Results dir": true,
	"Request log": true, "Seed": true,
}

// Beginnings of log lines around the banner that are followed by a value. They are used as labels.
const (
	LabelTrajectories = "Loading trajectories from"
	LabelAssignments  = "Loaded user assignments from"

	bannerEnd = "Running "
)

// Banner is the configuration that the client prints when it starts.
type Banner struct {
	First, Last int // line numbers
	Complete    bool
	Values      map[string]Value // by label
}

// parseBanners finds the banners in the first part of a client log.
func (r *Run) parseBanners(ctx context.Context, f io.Reader, a *Artifact) error {
	var current *Banner
	closeBanner := func() {
		if current != nil {
			r.Banners = append(r.Banners, *current)
			current = nil
		}
	}
	log := newLineReader(io.LimitReader(f, bannerLimit), "")
	log.limit = 64 << 10 // lines of a banner are shorter
	err := log.forEach(ctx, func(l rawLine) bool {
		a.Lines = l.number
		if !mayBeBanner(l.text) {
			return true
		}
		key, value, end := parseBannerLine(stripRank(stripANSI(l.text)))
		switch {
		case end && current != nil:
			current.Complete, current.Last = true, l.number
			closeBanner()
		case key == "" || end || l.truncated:
		default:
			if current != nil && current.Values[key].At.Line != 0 {
				closeBanner() // the client started again
			}
			if current == nil {
				if !bannerLabels[key] || len(r.Banners) >= maxBanners {
					return true // a log line that only looks like a banner line
				}
				current = &Banner{First: l.number, Values: map[string]Value{}}
			}
			current.Last = l.number
			line := validUTF8(l.text)
			after := max(strings.Index(line, key), 0) + len(key)
			current.Values[key] = Value{value, newEvidence(a.Name, l.number, line, key, value, after)}
		}
		return true
	})
	closeBanner()
	r.Banner = selectBanner(r.Banners)
	a.Found = fmt.Sprintf("banner on line %d", r.Banner.First)
	if len(r.Banners) == 0 {
		a.Found = fmt.Sprintf("no banner in the first %d MiB", bannerLimit>>20)
	}
	return err
}

// maxBanners bounds how many client starts are recorded.
const maxBanners = 1000

// mayBeBanner is a cheap test that rules out most log lines. A label begins with a capital letter,
// possibly after a rank or a color code.
func mayBeBanner(b []byte) bool {
	b = bytes.TrimLeft(b, " 0123456789:\t")
	return len(b) > 0 && (b[0] >= 'A' && b[0] <= 'Z' || b[0] == 0x1b)
}

// parseBannerLine splits a line of the client's log into label and value. end is true for the line
// that ends a banner.
func parseBannerLine(b []byte) (key, value string, end bool) {
	b = bytes.TrimSpace(b)
	if len(b) > 4096 {
		return "", "", false
	}
	if rest, ok := bytes.CutPrefix(b, []byte(bannerEnd)); ok && bytes.Contains(rest, []byte("phase(s)")) {
		return "", "", true
	}
	if rest, ok := bytes.CutPrefix(b, []byte(LabelTrajectories+" ")); ok {
		return LabelTrajectories, validUTF8(bytes.TrimSuffix(rest, []byte("..."))), false
	}
	if rest, ok := bytes.CutPrefix(b, []byte(LabelAssignments+" ")); ok {
		if i := bytes.LastIndex(rest, []byte(": ")); i >= 0 {
			rest = rest[:i]
		}
		return LabelAssignments, validUTF8(rest), false
	}
	label, rest, ok := bytes.Cut(b, []byte(":"))
	if !ok || !bannerLabels[string(label)] {
		return "", "", false
	}
	return string(label), validUTF8(bytes.TrimSpace(rest)), false
}

func validUTF8(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// selectBanner returns the first complete banner, or else the one with the most values.
func selectBanner(all []Banner) Banner {
	var best Banner
	for _, b := range all {
		if b.Complete {
			return b
		}
		if len(b.Values) > len(best.Values) {
			best = b
		}
	}
	return best
}
