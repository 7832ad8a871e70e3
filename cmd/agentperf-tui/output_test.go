package main

import (
	"io"
	"strings"
	"testing"
)

// Columns of a table stand where they belong whatever other people's names are of.
func TestTableAlignsWideNames(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	a := newApp(&out, io.Discard)
	if err := a.table([][]string{{"NAME", "STATE"}, {"模型一二", "done"}, {"e\u0301\x1b[31m", "failed"}}); err != nil {
		t.Fatal(err)
	}
	if want := "NAME      STATE\n模型一二  done\ne\u0301         failed\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
