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

// failurePause is the minimum time from the start of a failed request to the start of the same
// user's next one. It prevents flooding a server that rejects requests immediately.
const failurePause = time.Second

// runUser sends the requests of one user until the phase stops.
func (p *phase) runUser(user int) {
	if !p.waitUntil(p.userStart(user)) {
		return
	}
	script := p.data.Script(user)
	pass, id := -1, ""
	for {
		step := script.Next()
		if step.Pass != pass {
			pass, id = step.Pass, randomHex(6)
		}
		next, ok := p.runStep(user, id, step)
		if !ok || !p.waitUntil(next) {
			return
		}
	}
}

// runStep sends and records one request. It returns the time of the user's next request;
// ok is false if there is none.
func (p *phase) runStep(user int, id string, step Step) (next time.Time, ok bool) {
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
	start, ok := p.startRequest()
	if !ok {
		return time.Time{}, false
	}
	x := p.client.send(p.requestCtx, start, body, header)
	ended := time.Now()
	if x.kind != "" && p.requestCtx.Err() != nil {
		p.recordCutOff()
		return time.Time{}, false
	}
	row := p.row(user, id, xid, step, &x)
	if err := p.record(row, &x); err != nil {
		p.fail(err)
		return time.Time{}, false
	}
	p.finishRequest(user, step.Last, x, p.sampleOf(row, &x))
	next = ended.Add(step.Delay)
	if pause := start.Add(failurePause); x.kind != "" && next.Before(pause) {
		next = pause
	}
	return next, true
}

// waitUntil waits until t. It returns false if the phase stops first.
func (p *phase) waitUntil(t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.stopping:
		return false
	}
}

// headers returns the request id and the session id for the server's routing. The session id
// depends on the seed, so that routing by hash is reproducible.
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

// SessionID returns the value of the routing headers for a user's pass through a trajectory:
// 32 hexadecimal digits that depend on the seed.
func SessionID(seed int64, phase, user, pass int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%d/%d/%d", seed, phase, user, pass))
	return hex.EncodeToString(sum[:16])
}

func randomHex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// row returns the row of a request in the request log. It has figures only if the request succeeded.
func (p *phase) row(user int, id, xid string, step Step, x *exchange) requestRow {
	r := requestRow{
		Phase: p.index, Concurrency: p.users,
		Conversation: step.Conversation, Turn: step.Turn,
		User: user, RequestID: id, XRequestID: xid,
		Start: p.clock.seconds(x.start), End: p.clock.seconds(x.end),
		Success: x.kind == "",
	}
	if r.Success {
		r.Input, r.Output, r.Cached = x.usage.input.pointer(), x.usage.output.pointer(), x.usage.cached.pointer()
		r.ITL, r.SSESpeed = x.itl(), x.sseSpeed()
		if !x.whole {
			r.TTFT = new(x.firstOutput.Sub(x.start).Seconds())
		}
	}
	return r
}

// record writes a request's rows and logs the first failure of each kind and the first success with
// each note.
func (p *phase) record(row requestRow, x *exchange) error {
	if err := p.requests.append(row); err != nil {
		return err
	}
	var noted notes
	if x.kind == "" {
		noted = x.notes()
	}
	err := p.analysis.append(analysisRow{
		requestRow: row, ClientTokens: x.clientTokens(), OutputEvents: x.events,
		ErrorKind: x.kind, HTTPStatus: x.status, Notes: noted.keys(), Client: p.cfg.clientName(),
	})
	if err != nil {
		return err
	}
	if x.kind == "" {
		p.logNotes(row, noted)
		return nil
	}
	p.mu.Lock()
	logged := p.loggedKinds[x.kind]
	p.loggedKinds[x.kind] = true
	p.mu.Unlock()
	if !logged {
		p.log.print(fmt.Sprintf("Phase %d: first %s failure: user %d, %s turn %d: %s\n",
			p.index, x.kind, row.User, row.Conversation, row.Turn, printable(x.text)))
	}
	return nil
}

func (p *phase) logNotes(row requestRow, noted notes) {
	if noted == 0 {
		return
	}
	p.mu.Lock()
	unseen := noted &^ p.noted
	p.noted |= noted
	p.mu.Unlock()
	unseen.each(func(i int) {
		p.log.print(fmt.Sprintf("Phase %d: first response with a note: user %d, %s turn %d: %s\n",
			p.index, row.User, row.Conversation, row.Turn, noteTexts[i].text))
	})
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
		s.firstOut, s.lastOut, s.notes = p.clock.seconds(x.firstOutput), row.End, x.notes()
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
