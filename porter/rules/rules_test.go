package rules

import "testing"

func TestRewrites(t *testing.T) {
	t.Parallel()
	rs := append(Rewrites{{"/lustre/fast/", "/fast/"}, {"", "/never"}, {"/same", "/same"}}, DefaultRewrites...)
	for in, want := range map[string]string{
		"/lustre/fast/a": "/fast/a", "/lustre/a": "/scratch/a", "/lustre": "/scratch", "/lustre2/a": "/lustre2/a", "x/lustre/a": "x/lustre/a", "": "", "/same/x": "/same/x",
	} {
		if got, _ := rs.Apply(in); got != want {
			t.Errorf("%s → %s, want %s", in, got, want)
		}
	}
}
