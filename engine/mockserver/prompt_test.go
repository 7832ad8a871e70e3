package mockserver

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func parse(t testing.TB, messages, tools string) Prompt {
	t.Helper()
	p, err := ParsePrompt(json.RawMessage(messages), json.RawMessage(tools), 4)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestParsePromptCounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, messages, tools string
		want                  int
	}{
		{name: "two bytes", messages: `[""]`, want: 5},                             // 1 + 4
		{name: "rounded up", messages: `["abc"]`, want: 6},                         // 2 + 4
		{name: "spaces are ignored", messages: ` [ { "a" : "b" } ] `, want: 7},     // 3 + 4
		{name: "two messages", messages: `["ab","abcdef"]`, want: 11},              // 1 + 4, 2 + 4
		{name: "tools", messages: `["ab"]`, tools: `[ {} ]`, want: 10},             // 1 + 4, 1 + 4
		{name: "no tools", messages: `["ab"]`, tools: `null`, want: 5},             // 1 + 4
		{name: "an empty list of tools", messages: `["ab"]`, tools: `[]`, want: 5}, // 1 + 4
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := parse(t, tt.messages, tt.tools); got.Tokens != tt.want || len(got.blocks) != tt.want/4 {
				t.Errorf("got %d tokens in %d blocks, want %d", got.Tokens, len(got.blocks), tt.want)
			}
		})
	}
}

func TestParsePromptPrefixes(t *testing.T) {
	t.Parallel()
	a, b := parse(t, `["first","second"]`, ""), parse(t, `["first", "second","third"]`, "")
	if !slices.Equal(a.blocks, b.blocks[:len(a.blocks)]) || a.Key == b.Key {
		t.Errorf("longer conversation: got blocks %x and %x", a.blocks, b.blocks)
	}
	c := parse(t, `["First","second"]`, "")
	if c.blocks[0] == a.blocks[0] || c.blocks[1] == a.blocks[1] {
		t.Errorf("other first message: got blocks %x and %x, want all different", a.blocks, c.blocks)
	}
}

func TestParsePromptErrors(t *testing.T) {
	t.Parallel()
	for messages, want := range map[string]string{
		"": "not a JSON array", "{}": "not a JSON array", "[]": "messages is empty", "null": "messages is empty",
	} {
		_, err := ParsePrompt(json.RawMessage(messages), nil, 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("messages %q: got error %v, want one with %q", messages, err, want)
		}
	}
}

func FuzzParsePrompt(f *testing.F) {
	f.Add(`[{"role":"user","content":"hi"}]`, `[{"type":"function"}]`, 128)
	f.Add(`["a", 1, null]`, `null`, 1)
	f.Add(`[[]]`, `x`, -1)
	f.Fuzz(func(t *testing.T, messages, tools string, block int) {
		p, err := ParsePrompt(json.RawMessage(messages), json.RawMessage(tools), block)
		if err != nil {
			return
		}
		if block <= 0 {
			block = 128
		}
		if p.Tokens < 5 || len(p.blocks) != p.Tokens/block {
			t.Errorf("got %d tokens in %d blocks of %d", p.Tokens, len(p.blocks), block)
		}
	})
}

func TestPrefixCache(t *testing.T) {
	t.Parallel()
	c := newPrefixCache(4, 6)
	// 11 tokens: two full blocks.
	a := parse(t, `["aaaa","b"]`, "")
	if a.Tokens != 11 || c.lookup(a) != 0 {
		t.Fatalf("got %d tokens, %d cached, want 11 and none", a.Tokens, c.lookup(a))
	}
	c.insert(a)
	if got := c.lookup(a); got != 8 {
		t.Errorf("same prompt again: got %d cached tokens, want 8", got)
	}
	exact := parse(t, `["aaaaaaaaaaaaaa"]`, "")
	c.insert(exact)
	if exact.Tokens != 8 || c.lookup(exact) != 4 {
		t.Errorf("prompt of two full blocks: got %d of %d tokens cached, want 4 of 8", c.lookup(exact), exact.Tokens)
	}
	// The five blocks of another prompt leave room for one older block: the first block of the
	// prompt that was used last.
	c.insert(parse(t, `["cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"]`, ""))
	if a, b := c.lookup(a), c.lookup(exact); a != 0 || b != 4 {
		t.Errorf("after eviction: got %d and %d cached tokens, want 0 and 4", a, b)
	}
	if c.order.Len() != 6 || len(c.blocks) != 6 {
		t.Errorf("got %d blocks and %d entries, want 6", c.order.Len(), len(c.blocks))
	}
}
