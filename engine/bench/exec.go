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

// command is a program to run in the client's checkout.
type command struct {
	argv []string // a program's name and its arguments; the name is looked up in the reduced PATH
	out  io.Writer
	errs io.Writer
	held []*os.File // open in the program as well
}

// exec runs a program to its end and returns its exit code, 128+N for a signal
// N. When ctx ends, the program is sent SIGTERM, it alone: to pass that on to its
// children is its own affair. What it leaves behind of its process group is
// killed. The error is non-nil when there is no exit code, or not all output.
func (s *step) exec(ctx context.Context, c command) (int, error) {
	file := s.look(c.argv[0])
	if file == "" {
		return 0, problem.Errorf(problem.CommandNotFound, "command not found: %s (searched in %s)", c.argv[0], s.path)
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("start %s: %w", c.argv[0], context.Cause(ctx))
	}
	// Killed ourselves, we leave no client behind. The kernel ties a child's fate
	// to the thread that made it, so that thread must live as long as the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, err := s.start(ctx, file, c)
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", c.argv[0], err)
	}
	ended := make(chan struct{})
	go s.stopWith(ctx, cmd.Process, ended)
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

// start starts a command. A program that has just been fetched may be busy for a moment: a child
// that this process is making elsewhere has its file open until it becomes another program.
func (s *step) start(ctx context.Context, file string, c command) (*exec.Cmd, error) {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for try := 0; ; try++ {
		cmd := exec.Command(file, c.argv[1:]...)
		cmd.Args[0] = c.argv[0]
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = s.ClientDir, s.env, c.out, c.errs, c.held
		cmd.WaitDelay = time.Second // for output that what it left behind still holds open
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
		err := cmd.Start()
		if err == nil || !errors.Is(err, syscall.ETXTBSY) || try == 50 {
			return cmd, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-again.C:
		}
	}
}

// stopWith asks a process to end when ctx does, and after the grace makes it.
func (s *step) stopWith(ctx context.Context, p *os.Process, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return // it has just ended
	}
	timer := time.NewTimer(s.lim.grace)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		killGroup(p)
	}
}

// killGroup kills a process and its descendants in its group. There is no one to
// tell of a failure: either nothing is left, or what is left changed its owner.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// tool runs a program that must succeed. Its output goes to the log, unless
// stdout is set; the last line that went to the log stands in the error.
func (s *step) tool(ctx context.Context, stdout io.Writer, argv ...string) error {
	said := &lastLine{to: s.Log}
	if stdout == nil {
		stdout = said
	}
	code, err := s.exec(ctx, command{argv: argv, out: stdout, errs: said})
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", argv[0], context.Cause(ctx))
	case code != 0:
		message := fmt.Sprintf("%s exited with code %d: %s", argv[0], code, said)
		return problem.New(problem.ProgramFailed, strings.TrimSuffix(message, ": "))
	}
	return nil
}

// lastLine passes output on and remembers its last line with text in it.
type lastLine struct {
	to   io.Writer
	line []byte // being written
	last string
}

// lineBytes is how much of a line is remembered.
const lineBytes = 160

// Write never fails for the line's sake.
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

// String is the last line so far.
func (l *lastLine) String() string {
	if text := strings.TrimSpace(strings.ToValidUTF8(string(l.line), "?")); text != "" {
		return text
	}
	return l.last
}
