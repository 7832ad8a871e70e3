package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/agentperf/agentperf-tui/engine/results/parity"
)

// WriteComparison writes a comparison as a page of HTML into a folder and gives its
// path: parity-REF-CAND.html, with a number where that is there already.
func WriteComparison(dir string, c parity.Comparison) (string, error) {
	var page bytes.Buffer
	if err := ComparisonHTML(&page, c); err != nil {
		return "", fmt.Errorf("write the comparison: %w", err)
	}
	plain := func(r rune) rune {
		if strings.ContainsRune("._-", r) || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}
	stem := filepath.Join(dir, strings.Map(plain, fmt.Sprintf("parity-%.60s-%.60s", c.Reference.Name, c.Candidate.Name)))
	for n := 1; ; n++ {
		path := stem + ".html"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.html", stem, n)
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) // the name is taken by this
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = errors.Join(f.Close(), renameio.WriteFile(path, page.Bytes(), 0o644))
		}
		if err != nil {
			return "", fmt.Errorf("write the comparison: %w", err)
		}
		return filepath.Abs(path)
	}
}
