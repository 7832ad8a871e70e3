package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const goodRow = `{"conversation_id":"a","conversation_idx":0,"messages":[{"role":"user","content":"hi"}],"tools":null}`

func TestTrajectoryErrorsNameTheLine(t *testing.T) {
	t.Parallel()
	row := func(id string, idx int) string {
		return fmt.Sprintf(`{"conversation_id":%q,"conversation_idx":%d,"messages":[{"role":"user"}]}`, id, idx)
	}
	tests := []struct {
		name, text, want string
	}{
		{name: "gap", text: row("a", 0) + "\n" + row("a", 2), want: `:2: conversation "a" has turn 2 but no turn 1`},
		{name: "does not begin at 0", text: row("a", 1), want: `:1: conversation "a" has turn 1 but no turn 0`},
		{
			name: "duplicate", text: row("a", 0) + "\n\n" + row("a", 0),
			want: `:3: duplicate turn 0 of conversation "a", first on line 1`,
		},
		{name: "not JSON", text: goodRow + "\n{\"conversation_id\":\n", want: ":2: not valid JSON"},
		{name: "a list", text: "[1]", want: ":1: not a JSON object"},
		{name: "no id", text: `{"conversation_idx":0,"messages":[1]}`, want: ":1: conversation_id is missing"},
		{name: "id is a number", text: `{"conversation_id":7}`, want: ":1: conversation_id: "},
		{name: "no index", text: `{"conversation_id":"a","messages":[1]}`, want: ":1: conversation_idx is missing"},
		{
			name: "negative index", text: `{"conversation_id":"a","conversation_idx":-1}`,
			want: ":1: conversation_idx: must be a whole number from 0 to 1048576, got -1",
		},
		{name: "no messages", text: `{"conversation_id":"a","conversation_idx":0}`, want: ":1: messages is missing"},
		{
			name: "empty messages", text: `{"conversation_id":"a","conversation_idx":0,"messages":[ ]}`,
			want: ":1: messages is empty",
		},
		{
			name: "messages is text", text: `{"conversation_id":"a","conversation_idx":0,"messages":"hi"}`,
			want: `:1: messages: must be a list, got "hi"`,
		},
		{
			name: "messages is a long text",
			text: `{"conversation_id":"a","conversation_idx":0,"messages":"` + strings.Repeat("é", 50) + `"}`,
			want: `:1: messages: must be a list, got "` + strings.Repeat("é", 39),
		},
		{
			name: "negative delay", text: `{"conversation_id":"a","conversation_idx":0,"messages":[1],"delay_ms":-5}`,
			want: ":1: delay_ms: must be a number of milliseconds from 0 to 604800000, got -5",
		},
		{
			name: "delay is text", text: `{"conversation_id":"a","conversation_idx":0,"messages":[1],"delay_ms":"5"}`,
			want: `:1: delay_ms: must be a number of milliseconds from 0 to 604800000, got "5"`,
		},
		{
			name: "target of 0", text: `{"conversation_id":"a","conversation_idx":0,"messages":[1],"target_output_tokens":0}`,
			want: ":1: target_output_tokens: must be a whole number from 1 to",
		},
		{name: "blank", text: "\n \n", want: ": no rows"},
		{name: "byte-order mark only", text: "\ufeff", want: ": no rows"},
		{name: "byte-order mark in the middle", text: goodRow + "\n\ufeff" + goodRow, want: ":2: not valid JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := writeFile(t, "t.jsonl", tt.text)
			_, err := openTrajectories(t.Context(), path, "delay_ms")
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got error %v, want one that names the file and %q", err, tt.want)
			}
		})
	}
}

// The file has rows out of order, blank lines, CRLF, spaces, escaped quotes and no final newline. A
// byte-order mark at its start is not part of the first row.
func TestTrajectoriesIndex(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"", "\ufeff", "\ufeff\n"} {
		t.Run(fmt.Sprintf("%+q", mark), func(t *testing.T) {
			t.Parallel()
			checkIndex(t, mark)
		})
	}
}

func checkIndex(t *testing.T, mark string) {
	t.Helper()
	text := strings.Join([]string{
		`{"conversation_id":"b","conversation_idx":1,"messages":[ "b\"]1" ],"tools":[{"n":[1]}],` +
			`"delay_ms":1.5,"max_output_tokens":9}`,
		"",
		`  {"tools" : null , "messages":["a0"], "conversation_idx":0,"conversation_id":"a","target_output_tokens":7,` +
			`"max_output_tokens":5}` + "\r",
		`{"conversation_id":"b","conversation_idx":0,"other":{"messages":[]},"messages":["\\"],"tools":[],"delay_ms":null}`,
	}, "\n")
	d, err := OpenDataset(t.Context(), Config{
		TrajectoryPath: writeFile(t, "t.jsonl", mark+text), DelayKey: "delay_ms", Concurrencies: []int{1},
		TrajectoriesPerUser: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.conversations() != 2 || d.turns() != 3 {
		t.Fatalf("got %d conversations with %d turns, want 2 with 3", d.conversations(), d.turns())
	}
	type got struct {
		id, messages, tools string
		limit               int
		delay               time.Duration
	}
	var all []got
	s := &Script{conversations: d.trajectories.conversations, assigned: []int{0, 1}}
	for range 3 {
		step := s.Next()
		messages, tools, err := d.Prompt(step)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got{step.Conversation, string(messages), string(tools), step.OutputLimit, step.Delay})
	}
	want := []got{
		{id: "b", messages: `["\\"]`, tools: "[]"},
		{id: "b", messages: `[ "b\"]1" ]`, tools: `[{"n":[1]}]`, limit: 9, delay: 1500 * time.Microsecond},
		{id: "a", messages: `["a0"]`, limit: 5},
	}
	if !slices.Equal(all, want) {
		t.Errorf("got  %+v\nwant %+v", all, want)
	}
}

func TestOpenDatasetCanBeCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := OpenDataset(ctx, Config{
		TrajectoryPath: writeFile(t, "t.jsonl", strings.Repeat(goodRow+"\n", 1000)),
		Concurrencies:  []int{1}, TrajectoriesPerUser: 1,
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestAssignments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, err string
		users           int
		perUser         int
	}{
		{name: "lists", text: `{"metadata":{"per_user":9},"assignments":[["a"],["a","b"]]}`, users: 2, perUser: 2},
		{name: "keyed", text: `{"assignments":{"1":["a"],"0":["b"]},"more":[1,{"x":[]}]}`, users: 2, perUser: 1},
		{name: "not JSON", text: `{"assignments":[["a"`, err: "unexpected EOF"},
		{name: "ends after a key", text: `{"assignments":`, err: "at byte 15: unexpected EOF"},
		{name: "empty file", text: "", err: "file is empty"},
		{name: "blank file", text: " \n", err: "file is empty"},
		{name: "a list", text: `[["a"]]`, err: "not a JSON object"},
		{name: "no key", text: `{"users":[]}`, err: `no users found; add the key "assignments"`},
		{name: "empty", text: `{"assignments":{}}`, err: "no users"},
		{name: "key is not an index", text: `{"assignments":{"zero":["a"]}}`, err: `key "zero" is not a user index`},
		{name: "index with leading zero", text: `{"assignments":{"01":["a"]}}`, err: `key "01" is not a user index`},
		{name: "user twice", text: `{"assignments":{"0":["a"],"0":["b"]}}`, err: "duplicate user 0"},
		{name: "key twice", text: `{"assignments":[["a"]],"assignments":[["a"]]}`, err: `duplicate key "assignments"`},
		{name: "empty list", text: `{"assignments":[["a"],[]]}`, err: "user 1: no conversation ids"},
		{name: "numbers", text: `{"assignments":[[1]]}`, err: "user 0: not a list of conversation ids"},
		{name: "text", text: `{"assignments":"all"}`, err: "assignments must be a list of lists or an object keyed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := parseAssignments([]byte(tt.text))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got error %v, want one with %q", err, tt.err)
				}
				return
			}
			if err != nil || len(a.users) != tt.users || a.perUser != tt.perUser {
				t.Errorf("got %d users with %d conversations each and error %v, want %d with %d",
					len(a.users), a.perUser, err, tt.users, tt.perUser)
			}
		})
	}
}

// A byte-order mark before the assignments is skipped.
func TestAssignmentsAfterByteOrderMark(t *testing.T) {
	t.Parallel()
	a, err := readAssignments(writeFile(t, "a.json", "\ufeff"+`{"assignments":[["a"],["a","b"]]}`))
	if err != nil || len(a.users) != 2 || a.perUser != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	_, err = readAssignments(writeFile(t, "a.json", "\ufeff"))
	if err == nil || !strings.Contains(err.Error(), "file is empty") {
		t.Errorf("only a mark: %v", err)
	}
}

// If users lack assignments, no request is sent and no file is written.
func TestAssignmentsAreCheckedBeforeStart(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, assignments, want string
	}{
		{
			name: "too few users", assignments: `{"assignments":[["agent-000"],["agent-001"]]}`,
			want: "no entry for user 2 (2 users in all); use a file that covers users 0 to 2",
		},
		{
			name: "missing index", assignments: `{"assignments":{"0":["agent-000"],"2":["agent-000"],"3":["agent-000"]}}`,
			want: "no entry for user 1 (3 users in all); use a file that covers users 0 to 2",
		},
		{
			name: "unknown conversation", assignments: `{"assignments":[["agent-000"],["x"],["agent-000"]]}`,
			want: `user 1: conversation "x" is not in `,
		},
		{
			name: "users only in metadata", assignments: `{"metadata":{"n_users_total":1000},"assignments":[["agent-000"]]}`,
			want: "no entry for user 1 (1 users in all)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig(t, "http://127.0.0.1:1/v1", writeTrajectories(t, conversations(2, 2, 0)))
			cfg.Concurrencies = []int{1, 3}
			cfg.AssignmentsPath = writeFile(t, "assignments.json", tt.assignments)
			err := runConfig(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), cfg.AssignmentsPath) {
				t.Errorf("got error %v, want one that names the file and %q", err, tt.want)
			}
			if left, err := filepath.Glob(cfg.ResultsDir); err != nil || len(left) > 0 {
				t.Errorf("the results directory was created (%v, %v)", left, err)
			}
		})
	}
}

func TestScript(t *testing.T) {
	t.Parallel()
	cfg := Config{
		TrajectoryPath: writeTrajectories(t, conversations(3, 4, 0)), Seed: 42, MaxStartingOffset: 10,
		Concurrencies: []int{4},
		AssignmentsPath: writeFile(t, "a.json",
			`{"assignments":[["agent-002","agent-000"],["agent-001"],["agent-001"],["agent-002","agent-002"]]}`),
	}
	d, err := OpenDataset(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	// Python draws 10, 0, 6 and 4 for these users; a conversation has 4 turns.
	want := []string{
		"0:agent-002/3! 1:agent-000/0 1:agent-000/1 1:agent-000/2 1:agent-000/3! 2:agent-002/0",
		"0:agent-001/0 0:agent-001/1 0:agent-001/2 0:agent-001/3! 1:agent-001/0 1:agent-001/1",
		"0:agent-001/3! 1:agent-001/0 1:agent-001/1 1:agent-001/2 1:agent-001/3! 2:agent-001/0",
		"0:agent-002/3! 1:agent-002/0 1:agent-002/1 1:agent-002/2 1:agent-002/3! 2:agent-002/0",
	}
	for user, w := range want {
		var got []string
		s := d.Script(user)
		for range 6 {
			step := s.Next()
			mark := map[bool]string{true: "!"}[step.Last]
			got = append(got, fmt.Sprintf("%d:%s/%d%s", step.Pass, step.Conversation, step.Turn, mark))
		}
		if g := strings.Join(got, " "); g != w {
			t.Errorf("user %d: got %s, want %s", user, g, w)
		}
	}
}

// Without an assignments file, conversations are assigned equally often, no user gets one twice,
// and the assignment depends on the seed.
func TestSeededAssignment(t *testing.T) {
	t.Parallel()
	open := func(seed int64) [][]int {
		d, err := OpenDataset(t.Context(), Config{
			TrajectoryPath: writeTrajectories(t, conversations(6, 1, 0)), Seed: seed, Concurrencies: []int{4},
			TrajectoriesPerUser: 3,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		return d.assigned
	}
	lists, times := open(42), map[int]int{}
	for user, list := range lists {
		for _, c := range list {
			times[c]++
		}
		if sorted := slices.Sorted(slices.Values(list)); len(slices.Compact(sorted)) != 3 {
			t.Errorf("user %d plays %v: want three different conversations", user, list)
		}
	}
	for c := range 6 {
		if times[c] != 2 {
			t.Errorf("conversation %d is assigned %d times, want 2", c, times[c])
		}
	}
	equal := func(a, b [][]int) bool { return slices.EqualFunc(a, b, slices.Equal[[]int]) }
	if !equal(lists, open(42)) || equal(lists, open(43)) {
		t.Error("want the same lists for the same seed and others for another seed")
	}
}

// The spans of every valid line must point at its parts.
func FuzzParseRow(f *testing.F) {
	f.Add([]byte(goodRow), "delay")
	f.Add([]byte(`{"a\"b":"\\","conversation_id":"x","conversation_idx":3,"tools":[],"messages":[{"a":"]"}],"d":1e3}`),
		"d")
	f.Add([]byte(` {"messages":[1],"messages":[2 ,3],"conversation_idx":0,"conversation_id":"\u0061"}`+"\r\n"), "")
	f.Add([]byte(`{"messages":null}`), "messages")
	f.Fuzz(func(t *testing.T, data []byte, delayKey string) {
		r, err := parseRow(data, delayKey)
		if err != nil {
			return
		}
		var want struct {
			ID       string            `json:"conversation_id"`
			Messages []json.RawMessage `json:"messages"`
		}
		at := data[r.messages.off:][:r.messages.len]
		if err := json.Unmarshal(at, &want.Messages); err != nil || len(want.Messages) == 0 {
			t.Errorf("messages at %+v are %q: %v", r.messages, at, err)
		}
		if r.conversation == "" || r.index < 0 || r.delay < 0 || r.limit < 0 {
			t.Errorf("accepted %+v", r)
		}
	})
}

func FuzzParseAssignments(f *testing.F) {
	f.Add(`{"assignments":[["a"],["a","b"]]}`)
	f.Add(`{"metadata":{},"assignments":{"1":["a"],"0":["b"]}}`)
	f.Add(`{"assignments":{"0":[null]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAssignments([]byte(text))
		if err != nil {
			return
		}
		for user, ids := range a.users {
			if user < 0 || len(ids) == 0 || len(ids) > a.perUser {
				t.Errorf("user %d has %q of at most %d", user, ids, a.perUser)
			}
		}
	})
}
