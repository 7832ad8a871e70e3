package harness

import "testing"

func TestParseStem(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		want Stem
		ok   bool
	}{
		{"hf-0c0ffee_orig__1010u__phase0__dur2400s__settle240s__traj3", Stem{"hf-0c0ffee_orig", 1010, 0, 2400, 240, 3}, true},
		{"a__b__64u__phase12__dur300.5s__settle0s__traj1", Stem{"a__b", 64, 12, 300.5, 0, 1}, true},
		{"org_model__1u__phase0__dur1s__settle0.25s__traj10", Stem{"org_model", 1, 0, 1, 0.25, 10}, true},
		{"a__b__c__1u__phase12__dur1.5s__settle0.5s__traj1", Stem{"a__b__c", 1, 12, 1.5, 0.5, 1}, true},
		{"m__64u__phase0__dur600s__settle60s", Stem{}, false},
		{"m__xu__phase0__dur600s__settle60s__traj3", Stem{}, false},
		{"m__64u__phase0__dur600s__settleInfs__traj3", Stem{}, false},
		{"__1u__phase0__dur1s__settle0s__traj1", Stem{}, false},
		{"m__1u__phase0__dur1s__settle0s__traj", Stem{}, false},
		{"m__1u__phase0__dur1s__settle0s__traj1.5", Stem{}, false},
		{"m__1u__phase-1__dur1s__settle0s__traj1", Stem{}, false},
		{"m__1u__phase0__dur1e3s__settle0s__traj1", Stem{}, false},
		{"m__1u__phase0__durNaNs__settle0s__traj1", Stem{}, false},
		{"m__1__phase0__dur1s__settle0s__traj1", Stem{}, false},
		{"m__99999999999u__phase0__dur1s__settle0s__traj1", Stem{}, false},
		{"m\x1b[2J__1u__phase0__dur1s__settle0s__traj1", Stem{}, false},
		{"benchmark-rollup", Stem{}, false},
		{"", Stem{}, false},
	} {
		got, ok := ParseStem(tt.name)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %+v, %v; want %+v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
		if ok && got.String() != tt.name {
			t.Errorf("%s prints as %s", tt.name, got)
		}
	}
}

func FuzzParseStem(f *testing.F) {
	f.Add("m__1u__phase0__dur300.5s__settle0s__traj3")
	f.Add("__u__phase__durs__settles__traj")
	f.Fuzz(func(t *testing.T, name string) {
		s, ok := ParseStem(name)
		if !ok {
			return
		}
		if again, ok := ParseStem(s.String()); !ok || again != s {
			t.Fatalf("%q: %+v prints as %q, read back as %+v", name, s, s, again)
		}
	})
}

func TestSettlingValue(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"m__64u__phase0__dur600s__settle60s__traj3":               "60",
		"a__settle1s__b__1u__phase2__dur1.5s__settle0.50s__traj1": "0.50",
	} {
		at := Evidence{Artifact: "agentperf/" + name + ".json"}
		got := settlingValue(Value{name, at})
		at.Key, at.Raw = "settle", want
		if got != (Value{want, at}) {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
}
