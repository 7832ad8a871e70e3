package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/problem"
)

// command is a command to run in the client's checkout.
type command struct {
	argv  []string // name of the program, looked up in the step's PATH, and its arguments
	out   io.Writer
	errs  io.Writer
	files []*os.File // inherited by the program
}

// exec runs a command and returns its exit code, or 128+N if signal N ended it. When ctx ends, it
// sends SIGTERM to the program, but not to the program's children. After the program has ended,
// the rest of its process group is killed. exec returns an error if there is no exit code or if
// output was lost.
func (s *step) exec(ctx context.Context, c command) (int, error) {
	file := s.lookPath(c.argv[0])
	if file == "" {
		return 0, problem.Errorf(problem.CommandNotFound, "command not found: %s (searched in %s)", c.argv[0], s.path)
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("start %s: %w", c.argv[0], context.Cause(ctx))
	}
	// If this process is killed, Pdeathsig kills the child too. It refers to the thread that
	// started the child, so that thread must live as long as the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, err := s.start(ctx, file, c)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", c.argv[0], err)
	}
	ended := make(chan struct{})
	go s.terminateOnCancel(ctx, cmd.Process, ended)
	err = cmd.Wait()
	close(ended)
	killGroup(cmd.Process)
	code := cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		code = 128 + int(ws.Signal())
	}
	if exit := (*exec.ExitError)(nil); err == nil || errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		return code, nil
	}
	return code, fmt.Errorf("output of %s: %w", c.argv[0], err)
}

// start starts a command. It retries on ETXTBSY: a program that was just downloaded may still be
// open in a child process between its fork and its exec.
func (s *step) start(ctx context.Context, file string, c command) (*exec.Cmd, error) {
	retry := time.NewTicker(20 * time.Millisecond)
	defer retry.Stop()
	for try := 0; ; try++ {
		cmd := exec.Command(file, c.argv[1:]...)
		cmd.Args[0] = c.argv[0]
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = s.ClientDir, s.env, c.out, c.errs, c.files
		cmd.WaitDelay = time.Second // for orphaned children that keep the output open
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		err := cmd.Start()
		if err == nil || !errors.Is(err, syscall.ETXTBSY) || try == 50 {
			return cmd, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-retry.C:
		}
	}
}

// terminateOnCancel sends SIGTERM to a process when ctx ends, and kills its process group after
// the grace time.
func (s *step) terminateOnCancel(ctx context.Context, p *os.Process, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return // the process has ended
	}
	timer := time.NewTimer(s.lim.grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		killGroup(p)
	}
}

// killGroup kills the process group of p. An error is ignored, since it means that no process is
// left or that the rest runs as another user.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// runTool runs a program and returns an error if it fails. Its output goes to the log, or its
// standard output to stdout if that is set. The error contains the last logged line.
func (s *step) runTool(ctx context.Context, stdout io.Writer, argv ...string) error {
	output := &lastLine{to: s.Log}
	if stdout == nil {
		stdout = output
	}
	code, err := s.exec(ctx, command{argv: argv, out: stdout, errs: output})
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", argv[0], context.Cause(ctx))
	case code != 0:
		message := fmt.Sprintf("%s exited with code %d: %s", argv[0], code, output)
		return problem.New(problem.ProgramFailed, strings.TrimSuffix(message, ": "))
	}
	return nil
}

// lastLine is a writer that passes on its input and remembers the last line that is not blank.
type lastLine struct {
	to   io.Writer
	line []byte // current line
	last string
}

// lineBytes limits the length of the remembered line.
const lineBytes = 160

// Write writes p to the underlying writer.
func (l *lastLine) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b == '\n' || b == '\r':
			l.last, l.line = l.String(), l.line[:0]
		case len(l.line) < lineBytes:
			l.line = append(l.line, b)
		}
	}
	return l.to.Write(p)
}

// String returns the last line so far.
func (l *lastLine) String() string {
	invalid := "?"
	if len(l.line) == lineBytes {
		invalid = "" // the last character may be incomplete
	}
	if text := strings.TrimSpace(strings.ToValidUTF8(string(l.line), invalid)); text != "" {
		return text
	}
	return l.last
}
