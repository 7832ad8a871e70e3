package replay

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// byteOrderMark may precede a stream or a JSON document. It is not part of it.
var byteOrderMark = []byte("\xef\xbb\xbf")

// maxHead is the maximum number of bytes of the beginning of a body that an error shows.
const maxHead = 120

// bodyForm is the form of a body. It is determined by the content alone, since servers and proxies
// may label either form with any Content-Type.
type bodyForm int

const (
	formUnknown bodyForm = iota // nothing but white space so far
	formStream                  // server-sent events, unless none of their fields is found
	formJSON                    // a JSON document
	formOther                   // markup
)

// bodyParser parses a body as it arrives and adds its content to a response.
type bodyParser struct {
	to       *response
	events   sseParser
	form     bodyForm
	mark     int    // bytes of the byte-order mark that were skipped
	begun    bool   // no byte-order mark can follow
	document []byte // of formJSON
	head     []byte // first bytes, up to maxHead
	last     time.Time
	doneLine int // number of lines up to [DONE], 0 before it
}

func newBodyParser(to *response) *bodyParser {
	return &bodyParser{to: to, head: make([]byte, 0, maxHead)}
}

// feed adds the bytes of one read; at is the time when it returned.
func (p *bodyParser) feed(at time.Time, b []byte) error {
	p.last = at
	if !p.begun {
		b = p.skipMark(b)
	}
	if len(p.head) < maxHead {
		p.head = append(p.head, b[:min(len(b), maxHead-len(p.head))]...)
	}
	if p.form == formUnknown {
		p.recognize(b)
	}
	switch p.form {
	case formOther:
		p.to.fail(errorBody, "markup instead of an event stream or JSON")
		return nil
	case formJSON:
		if p.document = append(p.document, b...); len(p.document) > maxEvent {
			return errEventTooLong
		}
		return nil
	}
	return p.events.feed(b, p.addEvent)
}

func (p *bodyParser) addEvent(name, data []byte) {
	p.to.addEvent(p.last, name, data)
	if p.to.done && p.doneLine == 0 {
		p.doneLine = p.events.lines
	}
}

// skipMark removes the byte-order mark. If b ends within what may be one, these bytes are held back
// until the next read decides.
func (p *bodyParser) skipMark(b []byte) []byte {
	for len(b) > 0 && p.mark < len(byteOrderMark) && b[0] == byteOrderMark[p.mark] {
		p.mark++
		b = b[1:]
	}
	if len(b) == 0 && p.mark < len(byteOrderMark) {
		return b
	}
	p.begun = true
	if p.mark > 0 && p.mark < len(byteOrderMark) { // it was not one
		b = append(bytes.Clone(byteOrderMark[:p.mark]), b...)
	}
	return b
}

func (p *bodyParser) recognize(b []byte) {
	b = bytes.TrimLeft(b, " \t\r\n")
	if len(b) == 0 {
		return
	}
	switch b[0] {
	case '{', '[':
		p.form = formJSON
	case '<':
		p.form = formOther
	default:
		p.form = formStream
	}
}

// end completes the response after the last byte. broken means that the connection ended before
// the body did.
func (p *bodyParser) end(broken bool) {
	if p.form == formJSON {
		if !broken {
			p.to.addDocument(p.last, p.document)
		}
		return
	}
	if !broken {
		p.events.end(p.addEvent)
		if p.form == formStream && !p.events.isStream {
			p.to.fail(errorBody, "neither an event stream nor JSON")
		}
	}
	p.to.after = p.doneLine > 0 && (p.events.lines > p.doneLine || len(p.events.line) > 0)
}

// describe returns what was received, for an error message.
func (p *bodyParser) describe(resp *http.Response) string {
	text := resp.Status
	for _, name := range []string{"Content-Type", "Content-Encoding"} {
		if v := resp.Header.Get(name); v != "" {
			text += fmt.Sprintf(", %s %q", name, v)
		}
	}
	if len(p.head) > 0 {
		text += fmt.Sprintf(", body begins with %q", trimPartial(p.head))
	}
	return text
}

// isEncoded reports whether the body is compressed, which this client does not ask for.
func isEncoded(h http.Header) bool {
	encoding := h.Get("Content-Encoding")
	return encoding != "" && !strings.EqualFold(encoding, "identity")
}
