package replay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// requestRow is a row of the request log. The fields are in the order of the external client.
type requestRow struct {
	Phase        int      `json:"phase_idx"`
	Concurrency  int      `json:"concurrency"`
	Conversation string   `json:"conversation_id"`
	Turn         int      `json:"conversation_idx"`
	User         int      `json:"user_id"`
	RequestID    string   `json:"request_id"`
	Start        float64  `json:"start_time"`
	End          float64  `json:"end_time"`
	Input        *int     `json:"server_input_tokens"`
	Output       *int     `json:"server_output_tokens"`
	Cached       *int     `json:"server_cached_tokens"`
	TTFT         *float64 `json:"ttft"`
	ITL          *float64 `json:"itl"`
	SSESpeed     *float64 `json:"sse_output_speed"`
	Success      bool     `json:"success"`
	XRequestID   string   `json:"x_request_id"`
}

// analysisRow is a row of the analysis file. It contains no text of prompts or responses.
type analysisRow struct {
	requestRow
	ClientTokens int       `json:"client_output_tokens_estimate"` // bytes of output / 4
	OutputEvents int       `json:"output_events"`
	ErrorKind    errorKind `json:"error_kind,omitempty"`
	HTTPStatus   int       `json:"http_status,omitempty"`
	Notes        []string  `json:"notes,omitempty"` // keys of noteTexts; none for a failure
	Client       string    `json:"client"`
}

// rowWriter writes JSON rows, one write per row. It is safe for concurrent use.
type rowWriter struct {
	what string // name of the file, for errors
	mu   sync.Mutex
	to   io.Writer
}

func (w *rowWriter) append(v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		_, err = w.to.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the %s: %w", w.what, err)
	}
	return nil
}

// requestLog appends rows to a file that may have rows of earlier replays. It does not buffer, so
// that readers see complete rows and a crash loses none.
type requestLog struct {
	rowWriter
	file *os.File
}

func openRequestLog(path string) (*requestLog, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the request log: %w", err)
	}
	if err := terminateLastLine(f); err != nil {
		return nil, errors.Join(fmt.Errorf("open the request log %s: %w", path, err), f.Close())
	}
	return &requestLog{rowWriter{what: "request log", to: f}, f}, nil
}

// terminateLastLine adds a newline after an incomplete row, which a killed client may have left, so
// that the next row begins on a new line.
func terminateLastLine(f *os.File) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		_, err = f.Write([]byte("\n"))
	}
	return err
}

// appendRow appends one row to the file at path.
func appendRow(path string, v any) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	w := rowWriter{what: path, to: f}
	return errors.Join(w.append(v), f.Close())
}

// analysisFile is the file of a phase's analysis rows. Its name ends in .partial until the phase
// has ended.
type analysisFile struct {
	rowWriter
	file *os.File
	out  *bufio.Writer
	path string
}

func createAnalysis(path string) (*analysisFile, error) {
	f, err := os.OpenFile(path+".partial", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create the analysis rows: %w", err)
	}
	out := bufio.NewWriterSize(f, 1<<16)
	return &analysisFile{rowWriter{what: "analysis rows", to: out}, f, out, path}, nil
}

// publish closes the file and gives it its final name.
func (a *analysisFile) publish() error {
	err := errors.Join(a.out.Flush(), a.file.Close())
	if err == nil {
		err = os.Rename(a.file.Name(), a.path)
	}
	if err != nil {
		return fmt.Errorf("write the analysis rows: %w", err)
	}
	return nil
}

// discard closes and removes the file.
func (a *analysisFile) discard() error {
	return errors.Join(a.file.Close(), os.Remove(a.file.Name()))
}
