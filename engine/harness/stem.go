package harness

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// Stem holds the settings of a phase that are part of the client's file names:
// <model>__<N>u__phase<i>__dur<D>s__settle<S>s__traj<T>.
type Stem struct {
	Model        string  // served name, with _ for each /; may contain __
	Concurrency  int     // users
	Phase        int     // from 0
	Timeout      float64 // s, of the phase including its ramp-up
	Settling     float64 // s
	Trajectories int     // per user
}

var stemPattern = regexp.MustCompile(`^(.+)__(\d+)u__phase(\d+)__dur([\d.]+)s__settle([\d.]+)s__traj(\d+)$`)

// ParseStem parses a file name without its extension. It reports false for any other name, and for
// one with control characters. The model's name may contain the separator.
func ParseStem(name string) (Stem, bool) {
	parts := stemPattern.FindStringSubmatch(name)
	if parts == nil || strings.ContainsFunc(parts[1], unicode.IsControl) {
		return Stem{}, false
	}
	s := Stem{Model: parts[1]}
	var err [5]error
	s.Concurrency, err[0] = parseInt32(parts[2])
	s.Phase, err[1] = parseInt32(parts[3])
	s.Timeout, err[2] = strconv.ParseFloat(parts[4], 64)
	s.Settling, err[3] = strconv.ParseFloat(parts[5], 64)
	s.Trajectories, err[4] = parseInt32(parts[6])
	if errors.Join(err[:]...) != nil {
		return Stem{}, false
	}
	return s, true
}

func parseInt32(text string) (int, error) {
	n, err := strconv.ParseInt(text, 10, 32)
	return int(n), err
}

// String returns the file name without its extension. Whole numbers of seconds have no decimals.
func (s Stem) String() string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	return s.Model + "__" + strconv.Itoa(s.Concurrency) + "u__phase" + strconv.Itoa(s.Phase) +
		"__dur" + number(s.Timeout) + "s__settle" + number(s.Settling) + "s__traj" + strconv.Itoa(s.Trajectories)
}
