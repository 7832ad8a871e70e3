package harness

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
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
	Unknown     []Value          // settings with other labels than the known ones, at most maxOthers
	Ranks       []Value          // settings of other ranks that differ, at most maxOthers
	Cut         Evidence         // line without a line ending in which the file ends; zero if the banner was not cut
}

// maxBanners bounds how many client starts are recorded; the latest ones are kept.
const maxBanners = 1000

// maxGap bounds the lines that are read after a line of a banner to find settings with unknown labels.
const maxGap = 64

// bannerReader finds the banners in a client log.
type bannerReader struct {
	artifact string
	all      []Banner
	current  *Banner
	shown    map[rankLabel]bool // in the last banner
	prefix   string             // of the lines of the last banner
	indent   int                // of its labels
	settings bool               // the last line of the last banner was a setting
	pending  []unknownSetting   // before the first known label
	gap      int                // following lines that may be settings with unknown labels
}

// rankLabel is a label in the banner of a rank.
type rankLabel struct{ rank, label string }

// unknownSetting is a line that is a setting if those around it are.
type unknownSetting struct {
	prefix string
	indent int
	Value
}

// parseBanners finds the banners in a client log of any size.
func (r *Run) parseBanners(ctx context.Context, f io.Reader, a *Artifact) error {
	log := newLineReader(f)
	log.limit = 64 << 10 // lines of a banner are shorter
	var last int64
	log.progress = func(n int64) {
		if n-last >= 64<<20 {
			last = n
			r.progress(a.Name, n, 0)
		}
	}
	b := bannerReader{artifact: a.Name}
	log.filter = func(line []byte) bool { return b.gap > 0 || mayBeBanner(line) }
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
	b.gap = max(b.gap-1, 0)
	text := stripANSI(l.text)
	prefix := string(rank.Find(text))
	text = text[len(prefix):]
	prefix = strings.Trim(prefix, " :")
	key, value, end := parseBannerLine(text)
	indent := len(text) - len(bytes.TrimLeft(text, " "))
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
		line := validUTF8(l.text)
		after := max(strings.Index(line, key), 0) + len(key)
		v := Value{value, newEvidence(b.artifact, l.number, line, key, value, after)}
		if b.begin(v, prefix, indent) {
			b.current.Values[key] = v
			b.current.Last = l.number
			b.addPending(bannerLabels[key])
		}
	case isSeparator(text):
		b.settings = b.settings && prefix != b.prefix
		b.pending, b.gap = nil, maxGap
	default:
		b.addUnknown(l, text, prefix, indent)
	}
}

// addPending adds the settings with unknown labels before a line of the current banner, if that is a setting.
func (b *bannerReader) addPending(isSetting bool) {
	b.settings, b.gap = isSetting, 0
	if !isSetting {
		return
	}
	b.gap = maxGap
	for _, u := range b.pending {
		if u.prefix == b.prefix && u.indent == b.indent && len(b.current.Unknown) < maxOthers {
			b.current.Unknown = append(b.current.Unknown, u.Value)
		}
	}
	b.pending = nil
}

// addUnknown adds a line that is a setting with an unknown label if it is like those around it.
func (b *bannerReader) addUnknown(l rawLine, text []byte, prefix string, indent int) {
	m := unknownLabel.FindSubmatch(text)
	if m == nil || len(text) > 4096 {
		return
	}
	key, value := validUTF8(bytes.TrimSpace(m[1])), validUTF8(bytes.TrimSpace(m[2]))
	u := unknownSetting{prefix, indent, Value{value, newEvidence(b.artifact, l.number, validUTF8(l.text), key, value, 0)}}
	switch {
	case b.current == nil || !b.settings:
		if len(b.pending) < maxGap {
			b.pending = append(b.pending, u)
		}
	case prefix == b.prefix && indent == b.indent && len(b.current.Unknown) < maxOthers:
		b.current.Unknown = append(b.current.Unknown, u.Value)
	}
}

// unknownLabel matches a line with a label and a value.
var unknownLabel = regexp.MustCompile(`^ *([A-Za-z][^:=]{0,80}):( .*)?$`)

// isSeparator reports whether a line begins or ends the settings of a banner.
func isSeparator(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) >= 8 && len(bytes.Trim(text, "=")) == 0
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
func (b *bannerReader) begin(v Value, prefix string, indent int) bool {
	last := b.current
	if last == nil && len(b.all) > 0 {
		last = &b.all[len(b.all)-1]
	}
	key := v.At.Key
	isLabel := bannerLabels[key]
	first, again := Value{}, false
	if last != nil {
		first, again = last.Values[key]
	}
	if again && b.isOtherRank(v, prefix, indent) {
		if isLabel && first.Text != v.Text && indent == b.indent && len(last.Ranks) < maxOthers {
			last.Ranks = append(last.Ranks, v)
		}
		b.shown[rankLabel{prefix, key}] = true
		return false
	}
	switch {
	case isLabel && last != nil && indent < b.indent, !isLabel && (again || b.current == nil):
		return false
	case b.current != nil && !again && (!isLabel || indent == b.indent):
	default:
		b.close() // the client started again
		b.current = &Banner{First: v.At.Line, Values: map[string]Value{}}
		b.shown, b.prefix, b.indent = map[rankLabel]bool{}, prefix, indent
	}
	b.shown[rankLabel{prefix, key}] = true
	return true
}

// isOtherRank reports whether a value that was shown before is that of another rank of the client, since a
// rank shows each setting once.
func (b *bannerReader) isOtherRank(v Value, prefix string, indent int) bool {
	isSetting := !bannerLabels[v.At.Key] || indent >= b.indent
	haveRanks := prefix != "" && b.prefix != ""
	return isSetting && !b.shown[rankLabel{prefix, v.At.Key}] && (haveRanks || b.current != nil)
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
	b.current, b.settings, b.gap = nil, false, 0
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
		"Requ", "Seed", "Load", "Runn", "====":
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
