package smallfile

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// TestByteOrderMark checks that one mark at the start is skipped and nothing else, whether a file is read as a
// whole or in pieces, and that Read keeps it.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "\ufeff": "", "\ufeff{}": "{}", "\ufeff\ufeff{}": "\ufeff{}", " \ufeff": " \ufeff", "\xef": "\xef",
		"\xef\xbb": "\xef\xbb", "\xef\xbb{": "\xef\xbb{", "{": "{",
	} {
		if got := string(TrimBOM([]byte(text))); got != want {
			t.Errorf("TrimBOM(%q) = %q, want %q", text, got, want)
		}
		got, err := io.ReadAll(SkipBOM(iotest.OneByteReader(strings.NewReader(text))))
		if err != nil || string(got) != want {
			t.Errorf("SkipBOM of %q: %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := io.ReadAll(SkipBOM(iotest.ErrReader(io.ErrClosedPipe))); err != io.ErrClosedPipe {
		t.Errorf("the error of the reader is lost: %v", err)
	}
	path := filepath.Join(t.TempDir(), "f.json")
	if err := os.WriteFile(path, []byte("\ufeff{\"A\":5}"), 0o644); err != nil {
		t.Fatal(err)
	}
	var v struct{ A int }
	if err := ReadJSON(path, &v); err != nil || v.A != 5 {
		t.Errorf("ReadJSON: %+v, %v", v, err)
	}
	if data, err := Read(path, 1); err != nil || string(data) != "\ufeff{\"A\":5}" {
		t.Errorf("Read: %q, %v", data, err)
	}
}
