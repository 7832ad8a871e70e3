package job

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, log, want string
	}{
		{"empty", "", ""},
		{"blank", "\n  \n", ""},
		{"no cause", "loading weights\nbye\n\n", "; last log line: bye"},
		{
			"only an echo of Slurm", "srun: error: n1: task 0: Exited with exit code 1\n",
			"; last log line: srun: error: n1: task 0: Exited with exit code 1",
		},
		{
			"line before the echo of Slurm",
			"loading\nno more licences\nslurmstepd-n1: error: x\nsrun: error: n1: task 0: Exited with exit code 1\n",
			"; last log line: no more licences",
		},
		{
			"first of several", "CUDA error: an illegal memory access\nNCCL error: remote\nRuntimeError: worker died\n",
			"; log: CUDA error: an illegal memory access",
		},
		{
			"certain cause before likely one",
			"ImportError: optional module not found\ntorch.OutOfMemoryError: CUDA out of memory\n",
			"; log: torch.OutOfMemoryError: CUDA out of memory",
		},
		{"likely cause", "loading\nValueError: tp_size 3\nshutting down\n", "; log: ValueError: tp_size 3"},
		{
			"exception of a traceback",
			"Traceback (most recent call last):\n  File \"x.py\", line 1, in error\n    fatal()\n" +
				"KeyError: 'moe'\nfatal: later\n",
			"; log: KeyError: 'moe'",
		},
		{"errors only mentioned", "INFO fatal errors: none\n0 errors so far\nbye", "; last log line: bye"},
		{"long", strings.Repeat("é", 300), "; last log line: " + strings.Repeat("é", 100) + "…"},
	} {
		if got := causeFromLog([]byte(c.log)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzCause(f *testing.F) {
	f.Add([]byte("Traceback (most recent call last):\n  x\nKeyError: 'moe'\n"))
	f.Add([]byte("srun: error: x\r\n\xff\xfeerror"))
	f.Fuzz(func(t *testing.T, log []byte) {
		if got := causeFromLog(log); len(got) > 300 || !utf8.ValidString(got) || strings.Contains(got, "\n") {
			t.Errorf("%q", got)
		}
	})
}
