package replay

import "math/bits"

// notes is a set of peculiarities of a successful response that a reader of the figures must know.
type notes uint8

// The peculiarities, as bits.
const (
	noteJSON     notes = 1 << iota // a complete JSON answer instead of a stream
	noteNoFinish                   // [DONE], but no finish reason
	noteUsage                      // a usage block with a smaller count than an earlier one
	noteAfter                      // data after [DONE]
	noteNoUsage                    // no usage block before [DONE]
	noteInvalid                    // a usage block with a value that is not a token count
	noteCached                     // more cached than prompt tokens
)

// noteTexts holds for each bit of a set its key in the files and its text for people.
var noteTexts = [...]struct{ key, text string }{
	{"json_answer", "complete JSON answer instead of a stream, TTFT unknown"},
	{"no_finish_reason", "no finish reason"},
	{"contradicting_usage", "contradicting usage blocks, the last one counted"},
	{"data_after_done", "data after [DONE], not counted"},
	{"no_usage", "no usage block before [DONE], server tokens unknown"},
	{"invalid_usage", "invalid token count in the usage block, treated as unknown"},
	{"cached_above_input", "more cached than input tokens"},
}

// each calls f for each element of the set, with its index in [noteTexts].
func (n notes) each(f func(i int)) {
	for ; n != 0; n &= n - 1 {
		f(bits.TrailingZeros8(uint8(n)))
	}
}

// keys returns the keys of the set's elements, nil for an empty set.
func (n notes) keys() []string {
	var keys []string
	n.each(func(i int) { keys = append(keys, noteTexts[i].key) })
	return keys
}

// noteCount is the number of measured successful requests with a note, and their share of all
// measured successful requests.
type noteCount struct {
	Requests int     `json:"requests"`
	Share    float64 `json:"share"`
}

// countNotes returns the counts by key. Notes without requests are left out.
func countNotes(ok []sample) map[string]noteCount {
	var counts [len(noteTexts)]int
	for i := range ok {
		ok[i].notes.each(func(i int) { counts[i]++ })
	}
	byKey := map[string]noteCount{}
	for i, n := range counts {
		if n > 0 {
			byKey[noteTexts[i].key] = noteCount{Requests: n, Share: float64(n) / float64(len(ok))}
		}
	}
	return byKey
}
