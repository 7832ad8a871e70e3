package replay

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// The length of a text is that of the decoded text.
func TestTextSize(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "word", `a\b"c`, "\n\t", "é漢😀\x7f", "\u07ff\u0800", strings.Repeat("é\n", 50)} {
		plain, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		escaped := `"`
		for _, r := range text {
			if r < 0x10000 {
				escaped += fmt.Sprintf(`\u%04X`, r)
			} else {
				escaped += fmt.Sprintf(`\u%04x\u%04x`, 0xd7c0+r>>10, 0xdc00+r&0x3ff)
			}
		}
		for _, value := range []string{string(plain), escaped + `"`} {
			var s textSize
			if err := s.UnmarshalJSON([]byte(value)); err != nil || int(s) != len(text) {
				t.Errorf("%s: got %d, %v, want %d", value, s, err, len(text))
			}
		}
	}
	var s textSize
	if err := s.UnmarshalJSON([]byte(`["a"]`)); err == nil {
		t.Error("a list is taken as a text")
	}
}
