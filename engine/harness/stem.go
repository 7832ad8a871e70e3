package harness

import (
	"strconv"
	"strings"
	"unicode"
)

// Stem is what the client's file names say of a phase:
// <model>__<N>u__phase<i>__dur<D>s__settle<S>s__traj<T>.
type Stem struct {
	Model        string  // served name, with _ for each /; may contain __
	Concurrency  int     // users
	Phase        int     // from 0
	Timeout      float64 // s, the whole phase with its ramp-up
	Settling     float64 // s
	Trajectories int     // per user
}

// ParseStem reads a file name without its extension, from the right, since the
// model's name may contain the separator. It reports false for every other name,
// and for one that could do harm on a terminal.
func ParseStem(name string) (Stem, bool) {
	var s Stem
	var ok [5]bool
	rest := name
	for i, part := range []struct {
		prefix, suffix string
		set            func(string) bool
	}{
		{"traj", "", whole(&s.Trajectories)},
		{"settle", "s", seconds(&s.Settling)},
		{"dur", "s", seconds(&s.Timeout)},
		{"phase", "", whole(&s.Phase)},
		{"", "u", whole(&s.Concurrency)},
	} {
		at := strings.LastIndex(rest, "__")
		if at < 0 {
			return Stem{}, false
		}
		text, hasPrefix := strings.CutPrefix(rest[at+2:], part.prefix)
		text, hasSuffix := strings.CutSuffix(text, part.suffix)
		ok[i] = hasPrefix && hasSuffix && part.set(text)
		rest = rest[:at]
	}
	s.Model = rest
	if ok != [5]bool{true, true, true, true, true} || rest == "" || strings.ContainsFunc(rest, unicode.IsControl) {
		return Stem{}, false
	}
	return s, true
}

func whole(to *int) func(string) bool {
	return func(text string) bool {
		n, err := strconv.ParseUint(text, 10, 31)
		*to = int(n)
		return err == nil
	}
}

func seconds(to *float64) func(string) bool {
	return func(text string) bool {
		f, err := strconv.ParseFloat(text, 64)
		*to = f
		return err == nil && strings.Trim(text, "0123456789.") == ""
	}
}

// String is the file name without its extension; times print without decimals
// when they are whole.
func (s Stem) String() string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return s.Model + "__" + strconv.Itoa(s.Concurrency) + "u__phase" + strconv.Itoa(s.Phase) +
		"__dur" + number(s.Timeout) + "s__settle" + number(s.Settling) + "s__traj" + strconv.Itoa(s.Trajectories)
}
