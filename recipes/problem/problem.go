// Package problem is the catalogue of errors. Each kind of error that a user can
// encounter has a stable id, a cause and a remedy; `agentperf-tui explain ID` shows them.
// Production code creates errors with [New] and [Errorf], so that each has an id.
// fmt.Errorf with %w only adds context: a wrapped error keeps its id.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// ID names a kind of error: lower-case words with hyphens. Ids are part of the
// command line interface; the meaning of an id never changes.
type ID string

// Entry describes one kind of error.
type Entry struct {
	ID     ID     `json:"id"`
	Title  string `json:"title"`  // a few words, no full stop
	Cause  string `json:"cause"`  // why it happens: sentences
	Remedy string `json:"remedy"` // what to do: sentences
}

// Error is an error with an id.
type Error struct {
	ID  ID
	err error
}

// Error returns the message.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the underlying error, so that errors.Is and errors.As find it.
func (e *Error) Unwrap() error { return e.err }

// New returns an error with an id, as errors.New does.
func New(id ID, text string) error { return &Error{ID: id, err: errors.New(text)} }

// Errorf returns an error with an id, formatted as fmt.Errorf does. errors.Is still
// finds an error that is wrapped by %w; the id is that of the outer error.
func Errorf(id ID, format string, args ...any) error {
	return &Error{ID: id, err: fmt.Errorf(format, args...)}
}

// Mark adds an id to an error of a library. If err is nil or [Of] already finds an id
// for it, Mark returns it unchanged.
func Mark(id ID, err error) error {
	if err == nil || Of(err) != Internal {
		return err
	}
	return &Error{ID: id, err: err}
}

// Of returns the id of the outermost [Error] in the chain of err. Without one, it
// classifies errors of the operating system and of Go's standard library. It is
// [Internal] for any other error and empty for nil.
func Of(err error) ID {
	if err == nil {
		return ""
	}
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.ID
	}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return s.id
		}
	}
	return classifyType(err)
}

// classifyType classifies errors by their type.
func classifyType(err error) ID {
	var (
		exit    *exec.ExitError
		syntax  *json.SyntaxError
		badType *json.UnmarshalTypeError
		lookup  *net.DNSError
		network net.Error
		number  syscall.Errno
	)
	switch {
	case errors.As(err, &exit):
		return ProgramFailed
	case errors.As(err, &syntax), errors.As(err, &badType):
		return JSONInvalid
	case errors.As(err, &lookup):
		return ServerUnreachable
	case errors.As(err, &network) && network.Timeout():
		return TimedOut
	case errors.As(err, &number):
		return SystemError
	}
	return Internal
}

// sentinels are errors of the operating system and of Go's standard library, the
// more specific ones first.
var sentinels = []struct {
	err error
	id  ID
}{
	{context.Canceled, Interrupted},
	{context.DeadlineExceeded, TimedOut},
	{syscall.ENOSPC, NoSpace},
	{syscall.EDQUOT, NoSpace},
	{syscall.EROFS, FileReadOnly},
	{syscall.EADDRINUSE, AddressInUse},
	{syscall.ECONNREFUSED, ServerUnreachable},
	{syscall.ENOTDIR, NotADirectory},
	{syscall.EISDIR, NotAFile},
	{exec.ErrNotFound, CommandNotFound},
	{fs.ErrNotExist, FileNotFound},
	{fs.ErrExist, FileExists},
	{fs.ErrPermission, PermissionDenied},
	{io.ErrUnexpectedEOF, FileTruncated},
}

// Internal is the id of errors that can only come from a bug in the program.
const Internal ID = "internal"

var internalEntries = []Entry{{
	ID: Internal, Title: "internal error",
	Cause:  "An error that has no id, which is a bug in the program.",
	Remedy: "Report it with the command and the message.",
}}

// All returns the catalogue, sorted by id.
func All() []Entry {
	all := slices.Concat(commandEntries, fileEntries, configEntries, recipeEntries, portEntries,
		submitEntries, runEntries, resultEntries, clientEntries, internalEntries)
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

// Find returns the entry of an id; ok is false if the catalogue has none.
func Find(id ID) (e Entry, ok bool) {
	all := All()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}
