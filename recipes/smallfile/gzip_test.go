package smallfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestDecompress(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("text\n"))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, data, want    string
		compressed, damaged bool
	}{
		{"plain", "text\n", "text\n", false, false},
		{"empty", "", "", false, false},
		{"one byte", "\x1f", "\x1f", false, false},
		{"compressed", packed.String(), "text\n", true, false},
		{"damaged", "\x1f\x8bx", "", true, true},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.data), 0o600); err != nil {
			t.Fatal(err)
		}
		f, _, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text, compressed, err := Decompress(f)
		if compressed != c.compressed || (err != nil) != c.damaged {
			t.Errorf("%s: compressed %v, %v", c.name, compressed, err)
			continue
		}
		if c.damaged {
			continue
		}
		if got, err := io.ReadAll(text); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}
