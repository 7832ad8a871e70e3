package texttable

import (
	"slices"
	"testing"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		rows    [][]string
		columns []Column
		want    []string
	}{
		{"no rows", nil, nil, nil},
		{
			"columns without a description",
			[][]string{{"a", "bb", "c"}, {"aaa", "b", "cc"}},
			nil,
			[]string{"a    bb  c", "aaa  b   cc"},
		},
		{
			"gaps and numbers",
			[][]string{{"name", "n", "unit"}, {"x", "100", "s"}},
			[]Column{{Gap: 1}, {Gap: 2, Right: true}, {Gap: 1}},
			[]string{" name    n unit", " x     100 s"},
		},
		{"rows of different lengths", [][]string{{"a"}, {"aa", "b"}, {}}, nil, []string{"a", "aa  b", ""}},
		{"no trailing spaces", [][]string{{"a", "  "}, {"b", "bbbb"}}, nil, []string{"a", "b  bbbb"}},
		{
			"wide characters",
			[][]string{{"模型", "|"}, {"abc", "|"}, {"e\u0301", "|"}, {"👩‍🔬", "|"}},
			nil,
			[]string{"模型  |", "abc   |", "e\u0301     |", "👩‍🔬    |"},
		},
		{
			"escape sequences",
			[][]string{{"\x1b[31mred\x1b[m", "|"}, {"abcd", "|"}},
			nil,
			[]string{"\x1b[31mred\x1b[m   |", "abcd  |"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Lines(c.rows, c.columns...); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestPadding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text        string
		w           int
		left, right string
	}{
		{"ab", 4, "ab  ", "  ab"},
		{"模", 4, "模  ", "  模"},
		{"abcde", 4, "abcde", "abcde"},
		{"", 2, "  ", "  "},
		{"a", -1, "a", "a"},
	} {
		if got := AlignLeft(c.text, c.w); got != c.left {
			t.Errorf("left: %q, want %q", got, c.left)
		}
		if got := AlignRight(c.text, c.w); got != c.right {
			t.Errorf("right: %q, want %q", got, c.right)
		}
	}
}
