package logview

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCompressedLog(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(text.String()))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	open := func(data []byte) *View {
		path := filepath.Join(t.TempDir(), "job.log.gz")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return NewFileView(path)
	}
	v, grown, err := Watch(t.Context(), open(packed.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	end, err := v.End()
	if err != nil || end.Bytes() != int64(text.Len()) {
		t.Fatalf("end at %v, %v", end, err)
	}
	got, err := v.Step(t.Context(), Query{From: end, Back: true, Lines: 1})
	if err != nil || len(got.Lines) != 1 || got.Lines[0].Text != "line 19999" {
		t.Errorf("last line %+v, %v", got.Lines, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	select {
	case g, ok := <-grown:
		if ok {
			t.Errorf("growth %+v", g)
		}
	case <-ctx.Done():
		t.Error("the stream of a log that can't grow stays open")
	}
	cut := open(packed.Bytes()[:packed.Len()/2])
	defer cut.Close()
	if got, err := cut.Step(t.Context(), Query{From: cut.Start(), Lines: 2}); err != nil || len(got.Lines) != 2 ||
		got.Lines[1].Text != "line 1" {
		t.Errorf("a log that was cut: %+v, %v", got.Lines, err)
	}
	damaged := open([]byte("\x1f\x8bxyz"))
	defer damaged.Close()
	if _, err := damaged.End(); err == nil || !strings.Contains(err.Error(), "damaged compressed data") {
		t.Errorf("a damaged log: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(temporary, "agentperf-log-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
