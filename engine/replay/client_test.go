package replay

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agentperf/agentperf-tui/engine/mockserver"
	"github.com/agentperf/agentperf-tui/recipes/schema"
)

// Users keep their connections, and every request has the headers for routing.
func TestRunKeepsConnectionsAndSendsHeaders(t *testing.T) {
	t.Parallel()
	mock, err := mockserver.New(mockserver.Config{Role: schema.Agg, Timing: fastTiming()})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	sessions := map[string]int{}
	var connections atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Session-ID")
		mu.Lock()
		sessions[id]++
		mu.Unlock()
		if id == "" || r.Header.Get("X-Correlation-ID") != id || r.Header.Get("X-Dynamo-Session-ID") != id ||
			r.Header.Get("Authorization") != "Bearer dummy" || len(r.Header.Get("X-Request-ID")) != 32 {
			t.Errorf("unexpected headers %v", r.Header)
		}
		mock.ServeHTTP(w, r)
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	rows := conversations(3, 5, 0)
	for _, last := range []int{4, 9, 14} {
		rows[last].Delay = 60_000
	}
	cfg := testConfig(t, srv.URL+"/v1", writeTrajectories(t, rows))
	cfg.Concurrencies, cfg.TrajectoriesPerUser, cfg.MinTotalTrajectories = []int{3}, 1, 3
	if err := runConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if n := connections.Load(); n > 3 {
		t.Errorf("got %d connections for 15 requests of 3 users, want at most 3", n)
	}
	for id, n := range sessions {
		if n != 5 {
			t.Errorf("session %s has %d requests, want the 5 turns of one pass", id, n)
		}
	}
	if len(sessions) != 3 {
		t.Errorf("got %d sessions, want 3", len(sessions))
	}
}

// A request contains the turn's messages and tools unchanged, and the configured fields.
func TestRequestBody(t *testing.T) {
	t.Parallel()
	const rest = `"model":"a \"quoted\" model","stream":true,"stream_options":{"include_usage":true},` +
		`"reasoning_effort":"high","messages":[ 1 ]`
	cfg := Config{Model: `a "quoted" model`, MaxTokens: 100, ReasoningEffort: "high"}
	tests := []struct {
		name, tools string
		limit       int
		want        string
	}{
		{name: "no tools, no limit in the turn", want: `{"max_tokens":100,` + rest + `}`},
		{name: "tools and a smaller limit", tools: "[2]", limit: 7, want: `{"max_tokens":7,` + rest + `,"tools":[2]}`},
		{name: "a larger limit", limit: 700, want: `{"max_tokens":100,` + rest + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := requestBody(cfg, json.RawMessage("[ 1 ]"), json.RawMessage(tt.tools), tt.limit)
			if err != nil || string(got) != tt.want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, tt.want)
			}
		})
	}
}

// The same seed sends the same requests in the same order.
func TestSameSeedSendsSameRequests(t *testing.T) {
	t.Parallel()
	base := disaggregated(t, mockserver.Config{Model: "org/model", Timing: fastTiming()})
	path := writeTrajectories(t, conversations(4, 3, 1))
	replay := func() map[int][]string {
		cfg := testConfig(t, base, path)
		cfg.Concurrencies, cfg.MaxStartingOffset, cfg.MinTrajectoriesPerUser = []int{3}, 2, 3
		if err := runConfig(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		users := map[int][]string{}
		for _, r := range readRows[requestRow](t, filepath.Join(cfg.ResultsDir, "requests.jsonl")) {
			users[r.User] = append(users[r.User], r.Conversation+"/"+strconv.Itoa(r.Turn))
		}
		return users
	}
	first, second := replay(), replay()
	for user := range 3 {
		n := min(len(first[user]), len(second[user]))
		if n < 7 || !slices.Equal(first[user][:n], second[user][:n]) {
			t.Errorf("user %d: first run sent %v, second run %v", user, first[user], second[user])
		}
	}
}
