package porter

import (
	"strconv"
	"strings"
)

// stem is what the name of a client output file tells about its phase:
// <model>__<N>u__phase<i>__dur<D>s__settle<S>s__traj<T>.
type stem struct {
	phase  int
	settle string // seconds, as written
}

// parseStem reads a file name without its extension, from the right, since the
// model may hold the separator.
func parseStem(name string) (stem, bool) {
	parts := strings.Split(name, "__")
	if len(parts) < 6 {
		return stem{}, false
	}
	tail := parts[len(parts)-5:]
	number := func(s, prefix, suffix string) (string, bool) {
		s, ok1 := strings.CutPrefix(s, prefix)
		s, ok2 := strings.CutSuffix(s, suffix)
		_, err := strconv.ParseFloat(s, 64)
		return s, ok1 && ok2 && err == nil && strings.Trim(s, "0123456789.") == ""
	}
	_, okUsers := number(tail[0], "", "u")
	phase, okPhase := number(tail[1], "phase", "")
	_, okDur := number(tail[2], "dur", "s")
	settle, okSettle := number(tail[3], "settle", "s")
	_, okTraj := number(tail[4], "traj", "")
	i, err := strconv.Atoi(phase)
	return stem{i, settle}, okUsers && okPhase && okDur && okSettle && okTraj && err == nil
}
