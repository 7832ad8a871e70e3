package replay

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"time"
)

// failurePause is the least time between a failed request and the same user's next one, from start
// to start: a server that refuses at once must not be flooded, nor the disk with rows.
const failurePause = time.Second

// playUser plays one user until the phase stops.
func (p *phase) playUser(user int) {
	if !p.wait(p.userStart(user)) {
		return
	}
	script := p.data.Script(user)
	pass, id := -1, ""
	for {
		step := script.Next()
		if step.Pass != pass {
			pass, id = step.Pass, randomHex(6)
		}
		next, ok := p.play(user, id, step)
		if !ok || !p.wait(next) {
			return
		}
	}
}

// play sends one request, and records it. It tells when the user's next one is
// due, and false when there is none.
func (p *phase) play(user int, id string, step Step) (next time.Time, ok bool) {
	messages, tools, err := p.data.Prompt(step)
	if err != nil {
		p.fail(err)
		return time.Time{}, false
	}
	body, err := requestBody(p.cfg, messages, tools, step.OutputLimit)
	if err != nil {
		p.fail(err)
		return time.Time{}, false
	}
	xid := randomHex(16)
	header := p.headers(user, step.Pass, xid)
	start, ok := p.begin()
	if !ok {
		return time.Time{}, false
	}
	x := p.client.send(p.inFlight, start, body, header)
	ended := time.Now()
	if x.kind != "" && p.inFlight.Err() != nil {
		p.cut()
		return time.Time{}, false
	}
	row := p.row(user, id, xid, step, &x)
	if err := p.record(row, &x); err != nil {
		p.fail(err)
		return time.Time{}, false
	}
	p.finish(user, step.Last, x, p.sampleOf(row, &x))
	next = ended.Add(step.Delay)
	if pause := start.Add(failurePause); x.kind != "" && next.Before(pause) {
		next = pause
	}
	return next, true
}

// wait waits until t; false when the phase stops first.
func (p *phase) wait(t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.stopping:
		return false
	}
}

// headers name the request, and the conversation for the server's routing. The
// latter follows from the seed, so that routing by hash repeats itself.
func (p *phase) headers(user, pass int, xid string) http.Header {
	h := http.Header{"X-Request-Id": {xid}}
	session := []string{SessionID(p.cfg.Seed, p.index, user, pass)}
	if p.cfg.RoutingHeaders {
		h["X-Session-ID"] = session
		h["X-Correlation-ID"] = session
	}
	if p.cfg.DynamoHeaders {
		h["X-Dynamo-Session-ID"] = session
	}
	return h
}

// SessionID is what the routing headers say of a user's pass through a
// trajectory: 32 hex digits that follow from the seed.
func SessionID(seed int64, phase, user, pass int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%d/%d", seed, phase, user, pass))
	return hex.EncodeToString(sum[:16])
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails, by its documentation
	return hex.EncodeToString(b)
}

// row is the request as the log has it; figures only when it succeeded.
func (p *phase) row(user int, id, xid string, step Step, x *exchange) requestRow {
	r := requestRow{
		Phase: p.index, Concurrency: p.users,
		Conversation: step.Conversation, Turn: step.Turn,
		User: user, RequestID: id, XRequestID: xid,
		Start: p.clock.seconds(x.start), End: p.clock.seconds(x.end),
		Success: x.kind == "",
	}
	if r.Success {
		ttft := x.firstOutput.Sub(x.start).Seconds()
		r.Input, r.Output, r.Cached = x.input, x.output, x.cached
		r.TTFT, r.ITL, r.SSESpeed = &ttft, x.itl(), x.sseSpeed()
	}
	return r
}

// record writes a request's rows, and tells people of the first failure of each kind.
func (p *phase) record(row requestRow, x *exchange) error {
	if err := p.requests.append(row); err != nil {
		return err
	}
	err := p.analysis.append(analysisRow{
		requestRow: row, ClientTokens: x.clientTokens(), OutputEvents: x.events,
		ErrorKind: x.kind, HTTPStatus: x.status, Client: p.cfg.clientName(),
	})
	if err != nil || x.kind == "" {
		return err
	}
	p.mu.Lock()
	known := p.reported[x.kind]
	p.reported[x.kind] = true
	p.mu.Unlock()
	if !known {
		p.log.print(fmt.Sprintf("Phase %d: first %s failure: user %d, %s turn %d: %s\n",
			p.index, x.kind, row.User, row.Conversation, row.Turn, printable(x.text)))
	}
	return nil
}

func (p *phase) sampleOf(row requestRow, x *exchange) sample {
	s := sample{
		start: row.Start, latency: row.End - row.Start, kind: x.kind,
		ttft: orNaN(row.TTFT), local: math.NaN(), sse: orNaN(row.SSESpeed),
		input: orUnknown(row.Input), output: orUnknown(row.Output), cached: orUnknown(row.Cached),
	}
	if row.ITL != nil {
		s.local = 1 / *row.ITL
	}
	if row.Success {
		s.client = int32(min(x.clientTokens(), math.MaxInt32))
		s.firstOut, s.lastOut = p.clock.seconds(x.firstOutput), row.End
	}
	return s
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func orUnknown(n *int) int32 {
	if n == nil {
		return -1
	}
	return int32(*n)
}
