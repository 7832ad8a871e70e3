package harness

import (
	"os"
	"strings"
	"testing"
)

func FuzzLaunchLine(f *testing.F) {
	f.Add("[server] Executing: srun -l --export=ALL,A=b,c --nodelist gb[01-03] -N 1 -n 1 bash /h/start_dynamo_infra.sh " +
		"frontend gb01 8333 </dev/null &> /d/4_output_frontend.log &")
	f.Add(
		`Executing: srun -l --nodelist <n0> -N2 -n=8 bash /h/start_worker_dynamo.sh CTX 1 /m 8101 'A="x y" B=' none &> ` +
			"/d/3_output_CTX_1.log &",
	)
	f.Add("Executing: srun bash start_worker_dynamo.sh GEN 0 'A=1")
	f.Add("Executing: srun $((1+")
	f.Fuzz(func(t *testing.T, line string) {
		var run Run
		if err := run.parseLaunches(t.Context(), strings.NewReader(line), &Artifact{Name: JobLog}); err != nil {
			t.Fatal(err)
		}
		for r, ws := range run.Launches.Workers {
			for _, w := range ws {
				if w.Role != r || w.Index < 0 || w.Starts < 1 {
					t.Errorf("launch %+v", w)
				}
				for _, v := range w.Env {
					checkColumn(t, strings.Split(line, "\n")[v.At.Line-1], v.At)
				}
			}
		}
	})
}

func checkColumn(t *testing.T, line string, ev Evidence) {
	if ev.Column > 0 && !strings.HasPrefix(line[ev.Column-1:], ev.Raw) {
		t.Errorf("column %d of %q is not %q", ev.Column, line, ev.Raw)
	}
}

func FuzzEnvList(f *testing.F) {
	f.Add("A=1 B='x y' C=\"z\" D=")
	f.Add(`J={"a": 1} K=v w`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, v := range SplitEnvList(s) {
			if !strings.HasPrefix(s[v.offset:], v.Raw) || nameLen(v.Name) != len(v.Name) || v.Name == "" {
				t.Errorf("%q: variable %+v", s, v)
			}
		}
	})
}

func FuzzExport(f *testing.F) {
	f.Add("ALL,A=1,b,PATH,C=x=y,D=")
	f.Add(`A="x,y",B`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, e := range splitExport(s, 0) {
			if !strings.HasPrefix(s[e.offset:], e.Raw) || e.Raw == "" || e.Name == "" && !e.bare {
				t.Errorf("%q: entry %+v", s, e)
			}
		}
	})
}

func FuzzHosts(f *testing.F) {
	f.Add("gb[01-03,07],x9")
	f.Add("a[1-2]b[3-4]")
	f.Fuzz(func(t *testing.T, s string) {
		hosts, err := expandHosts(s)
		if err != nil && hosts != nil || len(hosts) > 2*maxHosts {
			t.Errorf("%q: %d hosts, %v", s, len(hosts), err)
		}
		for _, h := range hosts {
			if h == "" || strings.ContainsAny(h, "[],") {
				t.Errorf("%q: host %q", s, h)
			}
		}
	})
}

func FuzzBanner(f *testing.F) {
	text, err := os.ReadFile("../../testdata/bm_agentperf_dsv4_5p1d/c1010/client.log")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("12: \x1b[1m  Seed:\x1b[0m 3\r\n  Seed: 4\nRunning 1 phase(s)")
	f.Fuzz(func(t *testing.T, s string) {
		a := Artifact{Name: ClientLog}
		var r Run
		err := r.parseBanners(t.Context(), strings.NewReader(s), &a)
		if err != nil || a.Lines > strings.Count(s, "\n")+1 {
			t.Errorf("%d lines, %v", a.Lines, err)
		}
		for _, b := range r.Banners {
			if len(b.Values) == 0 || b.First < 1 || b.Last < b.First {
				t.Errorf("banner %+v", b)
			}
		}
	})
}

func FuzzParams(f *testing.F) {
	f.Add("A=1\nexport B=\"x y\" # c\nC='z'\nD=(1 2)\n")
	f.Add("A=$(x\n")
	f.Add("|Q\xd5\n+=\xdae[w")
	f.Fuzz(func(t *testing.T, s string) {
		a := Artifact{Name: "e"}
		r := Run{Params: map[string]Value{}}
		if err := r.parseParams(t.Context(), strings.NewReader(s), &a); err != nil {
			t.Fatal(err)
		}
		for name, v := range r.Params {
			if name == "" || v.At.Line < 1 || v.At.Line > a.Lines {
				t.Errorf("%q: %q at %+v", s, name, v.At)
			}
		}
	})
}

func FuzzClientCommand(f *testing.F) {
	f.Add("srun <x> bash -c 'cd /a; uv run python agentperf/run.py --config c --no-eval'")
	f.Fuzz(func(t *testing.T, s string) {
		a := Artifact{Name: "c.sh"}
		var r Run
		if err := r.parseClient(t.Context(), strings.NewReader(s), &a); err != nil {
			t.Fatal(err)
		}
		if r.Client.Checkout.Text != "" && a.Found != "client command" {
			t.Errorf("%q: %+v", s, r.Client)
		}
	})
}

// FuzzSource checks that the place of any part of a text contains it literally.
func FuzzSource(f *testing.F) {
	f.Add("\ufeffone\r\n\x1b[1mtwo\x1b[0m \xffthree", uint(4), uint(3))
	f.Add("a\n\nb", uint(1), uint(2))
	f.Fuzz(func(t *testing.T, text string, from, length uint) {
		s := newSource("x", text)
		if s.text == "" {
			return
		}
		start := int(from % uint(len(s.text)))
		part := s.text[start : start+min(int(length%100), len(s.text)-start)]
		ev := s.at("", part, start)
		lines := strings.Split(text, "\n")
		if ev.Line < 1 || ev.Line > len(lines) {
			t.Fatalf("%q: line %d of %q", part, ev.Line, text)
		}
		checkColumn(t, lines[ev.Line-1], ev)
	})
}
