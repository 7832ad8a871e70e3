package safetext

import "testing"

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"[a](b)":                       `\[a\](b)`,
		"a|b":                          `a\|b`,
		"`rm -rf`":                     "\\`rm -rf\\`",
		"<script>&amp;":                `\<script\>\&amp;`,
		"bm_agentperf_dsv4_5p1d/c1010": "bm_agentperf_dsv4_5p1d/c1010",
		"_em_ and *strong*":            `\_em\_ and \*strong\*`,
		"# title":                      `\# title`,
		"- item":                       `\- item`,
		"-":                            "-",
		"+1.5%":                        "+1.5%",
		"1. one":                       `1\. one`,
		"1.5 s":                        "1.5 s",
		"~~gone~~":                     `\~\~gone\~\~`,
		`a\b`:                          `a\\b`,
		"http://host/x":                `http\://host/x`,
		"a\x1b[31mb\u202ec":            "abc",
		"Δ −1.5% ≥ ±":                  "Δ −1.5% ≥ ±",
	} {
		if got := Markdown(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
