package logline

import "testing"

func TestCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, log, want string
		explains        bool
	}{
		{"empty", "\n \n", "", false},
		{"no error", "loading\nbye\n", "bye", false},
		{"only an echo of Slurm", "srun: error: n1: x\n", "srun: error: n1: x", false},
		{"line before the echo of Slurm", "no licences\nsrun: error: n1: x\n", "no licences", false},
		{"first of several", "CUDA error: x\nRuntimeError: y\n", "CUDA error: x", true},
		{
			"grave beats likely", "ImportError: x\ntorch.OutOfMemoryError: CUDA out of memory\n",
			"torch.OutOfMemoryError: CUDA out of memory", true,
		},
		{"likely cause", "loading\nValueError: tp_size 3\nbye\n", "ValueError: tp_size 3", true},
		{
			"raised", "Traceback (most recent call last):\n  in error\nKeyError: 'moe'\nfatal: later\n", "KeyError: 'moe'", true,
		},
		{"errors only mentioned", "INFO fatal errors: none\n0 errors so far\nbye", "bye", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, explains := Cause([]byte(c.log)); got != c.want || explains != c.explains {
				t.Errorf("%q %v, want %q %v", got, explains, c.want, c.explains)
			}
		})
	}
}
