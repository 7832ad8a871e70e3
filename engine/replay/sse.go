package replay

import (
	"bytes"
	"encoding/json"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// maxEvent limits the size of a server-sent event, in bytes.
const maxEvent = 16 << 20

var errEventTooLong = problem.New(problem.ServerFailed, "server-sent event longer than 16 MiB")

// sseParser splits a byte stream into server-sent events. Reads may end anywhere, and lines
// may end in CR, LF or CRLF.
type sseParser struct {
	line    []byte // beginning of an incomplete line
	data    []byte
	name    []byte
	hasData bool
	sawCR   bool

	lines    int  // that are neither empty nor comments
	isStream bool // a field or a comment of an event stream was found
}

// feed parses the bytes of one read and calls f for each event that they complete. The slices
// are only valid during the call.
func (p *sseParser) feed(b []byte, f func(name, data []byte)) error {
	for len(b) > 0 {
		if p.sawCR {
			p.sawCR = false
			if b[0] == '\n' {
				b = b[1:]
				continue
			}
		}
		end := lineEnd(b)
		if end < 0 {
			p.line = append(p.line, b...)
			return p.checkSize()
		}
		line := b[:end]
		if len(p.line) > 0 {
			p.line = append(p.line, line...)
			line = p.line
		}
		p.addLine(line, f)
		p.line = p.line[:0]
		p.sawCR = b[end] == '\r'
		b = b[end+1:]
		if err := p.checkSize(); err != nil {
			return err
		}
	}
	return nil
}

// lineEnd returns the index of the first CR or LF in b, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}

func (p *sseParser) checkSize() error {
	if len(p.line)+len(p.data)+len(p.name) > maxEvent {
		return errEventTooLong
	}
	return nil
}

func (p *sseParser) addLine(line []byte, f func(name, data []byte)) {
	if len(line) == 0 {
		if p.hasData || len(p.name) > 0 {
			f(p.name, p.data)
		}
		p.data, p.name, p.hasData = p.data[:0], p.name[:0], false
		return
	}
	field, value, _ := bytes.Cut(line, []byte(":")) // the field of a comment is empty
	value = bytes.TrimPrefix(value, []byte(" "))
	p.isStream = p.isStream || isField(string(field))
	if len(field) > 0 {
		p.lines++
	}
	switch string(field) {
	case "data":
		if p.hasData {
			p.data = append(p.data, '\n')
		}
		p.data, p.hasData = append(p.data, value...), true
	case "event":
		p.name = append(p.name[:0], value...)
	}
}

// isField reports whether name is a field of an event stream; that of a comment is empty.
func isField(name string) bool {
	switch name {
	case "data", "event", "id", "retry", "":
		return true
	}
	return false
}

// end ends the stream. Some servers omit the empty line after the last event, so f is called for
// that event too, unless it was cut off.
func (p *sseParser) end(f func(name, data []byte)) {
	if len(p.line) > 0 {
		p.addLine(p.line, f)
		p.line = p.line[:0]
	}
	if isWholeEvent(p.name, p.data) {
		f(p.name, p.data)
	}
}

// isWholeEvent reports whether an event is complete although no empty line follows it.
func isWholeEvent(name, data []byte) bool {
	return isErrorName(name) || isDone(bytes.TrimSpace(data)) || json.Valid(data)
}
