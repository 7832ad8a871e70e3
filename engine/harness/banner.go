package harness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

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
	Again       []Value          // datasets that are shown again with another path, at most 8
	Cut         Evidence         // line without a line ending in which the file ends; zero if the banner was not cut
}

// maxBanners bounds how many client starts are recorded; the latest ones are kept.
const maxBanners = 1000

// bannerReader finds the banners in a client log.
type bannerReader struct {
	artifact string
	all      []Banner
	current  *Banner
	ranks    map[string]string // of the lines of the last banner, by label
	indent   int               // of the labels of the last banner
}

// parseBanners finds the banners in a client log of any size.
func (r *Run) parseBanners(ctx context.Context, f io.Reader, a *Artifact) error {
	log := newLineReader(f)
	log.filter = mayBeBanner
	log.limit = 64 << 10 // lines of a banner are shorter
	var last int64
	log.progress = func(n int64) {
		if n-last >= 64<<20 {
			last = n
			r.progress(a.Name, n, 0)
		}
	}
	b := bannerReader{artifact: a.Name}
	err := log.forEach(ctx, func(l rawLine) bool {
		b.add(l)
		return true
	})
	a.Lines = log.lines
	b.close()
	r.Banners, r.Banner = chooseBanner(b.all)
	a.Found = fmt.Sprintf("banner on line %d", r.Banner.First)
	if len(r.Banners) == 0 {
		a.Found = "no banner"
	}
	return err
}

// add adds what a line shows.
func (b *bannerReader) add(l rawLine) {
	text := stripANSI(l.text)
	prefix := string(rank.Find(text))
	text = text[len(prefix):]
	key, value, end := parseBannerLine(text)
	switch {
	case l.open && b.current != nil && !l.truncated:
		cut := strings.TrimSpace(validUTF8(text))
		b.current.Cut = newEvidence(b.artifact, l.number, validUTF8(l.text), key, cut, 0)
	case l.truncated || l.open:
	case end && b.current != nil:
		b.current.Complete, b.current.Last = true, l.number
		b.close()
	case key != "" && !end:
		b.addAgain(l, key, value)
		indent := len(text) - len(bytes.TrimLeft(text, " "))
		if b.begin(l.number, key, value, strings.Trim(prefix, " :"), indent) {
			line := validUTF8(l.text)
			after := max(strings.Index(line, key), 0) + len(key)
			b.current.Values[key] = Value{value, newEvidence(b.artifact, l.number, line, key, value, after)}
			b.current.Last = l.number
		}
	}
}

// addAgain records a dataset that the last start of the client has shown with another path.
func (b *bannerReader) addAgain(l rawLine, key, value string) {
	last := b.current
	if last == nil && len(b.all) > 0 {
		last = &b.all[len(b.all)-1]
	}
	if last == nil || bannerLabels[key] || len(last.Again) >= 8 {
		return
	}
	if shown, again := last.Values[key]; again && shown.Text != value {
		at := newEvidence(b.artifact, l.number, validUTF8(l.text), key, value, 0)
		last.Again = append(last.Again, Value{value, at})
	}
}

// begin begins another banner if a value belongs to one. It reports false for a value that belongs to none: that of a
// line that only looks like one of a banner, or of another rank of the same client.
func (b *bannerReader) begin(number int, key, value, prefix string, indent int) bool {
	last := b.current
	if last == nil && len(b.all) > 0 {
		last = &b.all[len(b.all)-1]
	}
	isLabel := bannerLabels[key]
	shown, again := Value{}, false
	if last != nil {
		shown, again = last.Values[key]
	}
	isEcho := again && b.ranks[key] != prefix && (b.current != nil || shown.Text == value)
	switch {
	case isEcho, isLabel && last != nil && indent < b.indent, !isLabel && (again || b.current == nil):
		return false
	case b.current != nil && !again && (!isLabel || indent == b.indent):
	default:
		b.close() // the client started again
		b.current = &Banner{First: number, Values: map[string]Value{}}
		b.ranks, b.indent = map[string]string{}, indent
	}
	b.ranks[key] = prefix
	return true
}

// close ends the current banner.
func (b *bannerReader) close() {
	if b.current == nil {
		return
	}
	if len(b.all) >= maxBanners {
		b.all = slices.Delete(b.all, 1, 2)
	}
	b.all = append(b.all, *b.current)
	b.current = nil
}

// chooseBanner returns the starts of the client and the last complete one, or the last one if none is
// complete. A few lines that look like a part of a banner are no start if there are others.
func chooseBanner(all []Banner) ([]Banner, Banner) {
	const few = 3 // values
	starts := slices.DeleteFunc(slices.Clone(all), func(b Banner) bool {
		return len(b.Values) < few && b.Cut.Line == 0
	})
	if len(starts) == 0 {
		starts = all
	}
	for _, b := range slices.Backward(starts) {
		if b.Complete {
			return starts, b
		}
	}
	if n := len(starts); n > 0 {
		return starts, starts[n-1]
	}
	return nil, Banner{}
}

// mayBeBanner is a cheap test that rules out most log lines. A label may follow a rank or a color code.
func mayBeBanner(b []byte) bool {
	i := 0
	for i < len(b) && (b[i] == ' ' || b[i] == ':' || b[i] == '\t' || b[i] >= '0' && b[i] <= '9') {
		i++
	}
	if b = b[i:]; len(b) < 4 {
		return false
	}
	switch string(b[:4]) { // beginnings of bannerLabels and of the lines around them
	case "Base", "Mode", "Serv", "Conc", "Max ", "Conn", "Phas", "User", "Tool", "Reas", "Conv", "Dyna", "Powe", "Resu",
		"Requ", "Seed", "Load", "Runn":
		return true
	}
	return b[0] == 0x1b
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
