package replay

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// maxErrorText limits the text that is kept of an error response, in bytes.
const maxErrorText = 300

// client sends chat requests and reads the streamed responses.
type client struct {
	http    *http.Client
	url     string
	header  http.Header
	timeout time.Duration
}

// newClient returns a client that opens at most one connection per user and keeps it open.
// It ignores the proxy settings of the environment, since a proxy would distort the measurement.
func newClient(cfg Config) *client {
	header := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {cfg.clientName()},
	}
	if cfg.APIKey != "" {
		header.Set("Authorization", "Bearer "+cfg.APIKey)
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &client{
		url: strings.TrimRight(cfg.BaseURL, "/") + "/chat/completions", header: header, timeout: cfg.RequestTimeout,
		http: &http.Client{Transport: &http.Transport{
			DialContext: dialer.DialContext, DisableCompression: true, ReadBufferSize: 16 << 10, WriteBufferSize: 64 << 10,
			MaxConnsPerHost: cfg.maxConcurrency(), MaxIdleConnsPerHost: cfg.maxConcurrency(),
			// Only HTTP/1.1, because HTTP/2 would share one connection and its flow control among users.
			TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{},
		}},
	}
}

// exchange is one request and its response.
type exchange struct {
	response
	start, end time.Time // end is the time of the last output or of the failure
	kind       errorKind // empty if the request succeeded
	status     int       // HTTP status; 0 without a response
	text       string    // error message of a failure
	received   string    // status, headers and beginning of a body without output
}

// send sends a request and reads the streamed response. If the request's time limit is
// exceeded or parent ends first, the exchange is a failure.
func (c *client) send(parent context.Context, start time.Time, body []byte, header http.Header) exchange {
	x := exchange{start: start}
	ctx, cancel := context.WithDeadlineCause(parent, start.Add(c.timeout), errTimeout)
	defer cancel()
	err := c.do(ctx, cancel, &x, body, header)
	switch {
	case x.kind != "":
	case x.status == 0 && !errors.Is(context.Cause(ctx), errTimeout):
		x.kind, x.text = errorConnection, err.Error()
	case err != nil && x.failed == "" && !x.done && errors.Is(context.Cause(ctx), errTimeout):
		x.kind, x.text = errorTimeout, err.Error()
	case err != nil && x.failed == "" && !x.done && parent.Err() != nil:
		x.kind, x.text = errorEarlyEnd, err.Error()
	default:
		x.kind, x.text = x.response.classify()
		if x.kind != "" && x.failed == "" && err != nil {
			x.text += ": " + err.Error()
		}
		if x.kind == errorBody || x.kind == errorNoOutput {
			x.text += ": " + x.received
		}
	}
	x.end = x.lastOutput
	if x.kind != "" {
		x.end = time.Now()
	}
	return x
}

var errTimeout = problem.New(problem.TimedOut, "request time limit exceeded")

func (c *client) do(ctx context.Context, cancel context.CancelFunc, x *exchange, body []byte,
	header http.Header,
) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for _, h := range []http.Header{c.header, header} {
		for name, values := range h {
			req.Header[name] = values
		}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	x.status = resp.StatusCode
	if x.status < 200 || x.status > 299 || x.status == http.StatusNoContent {
		x.kind = errorStatus
		text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorText))
		x.text = strings.TrimSuffix(resp.Status+": "+string(trimPartial(text)), ": ")
		if err != nil {
			return fmt.Errorf("read an error response: %w", err)
		}
		return nil
	}
	p := newBodyParser(&x.response)
	if isEncoded(resp.Header) {
		x.fail(errorBody, "body is encoded, although no encoding was accepted")
	} else {
		err = readBody(resp.Body, cancel, p)
		p.end(err != nil)
	}
	if x.events == 0 {
		x.received = p.describe(resp)
	}
	return err
}

// readBody reads a body to its end. The time of an event is when the read that completed it
// returned, before it was parsed.
func readBody(body io.Reader, cancel context.CancelFunc, p *bodyParser) error {
	buf := make([]byte, 16<<10)
	ending := false
	for {
		n, err := body.Read(buf)
		now := time.Now()
		if n > 0 && !p.to.complete() {
			if perr := p.feed(now, buf[:n]); perr != nil {
				p.to.fail(errorMalformed, perr.Error())
				return perr
			}
		}
		if !ending && (p.to.done || p.to.complete()) {
			// The body should end at once, so that the connection can be reused.
			// If it stays open, the connection is closed.
			ending = true
			defer time.AfterFunc(endOfBody, cancel).Stop()
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// endOfBody is how long a body may stay open after the stream's [DONE] marker.
const endOfBody = time.Second

// requestBody returns the JSON document of a request. It copies messages and tools
// unchanged from the dataset; tools may be nil.
func requestBody(cfg Config, messages, tools json.RawMessage, limit int) ([]byte, error) {
	head, err := json.Marshal(map[string]any{
		"model":          cfg.Model,
		"stream":         true,
		"stream_options": map[string]bool{"include_usage": true},
		"max_tokens":     minLimit(limit, cfg.MaxTokens),
	})
	if err != nil {
		return nil, fmt.Errorf("build a request: %w", err)
	}
	body := make([]byte, 0, len(head)+len(messages)+len(tools)+64)
	body = append(body, head[:len(head)-1]...)
	if cfg.ReasoningEffort != "" {
		effort, err := json.Marshal(cfg.ReasoningEffort)
		if err != nil {
			return nil, fmt.Errorf("build a request: %w", err)
		}
		body = append(append(body, `,"reasoning_effort":`...), effort...)
	}
	body = append(append(body, `,"messages":`...), messages...)
	if len(tools) > 0 {
		body = append(append(body, `,"tools":`...), tools...)
	}
	return append(body, '}'), nil
}
