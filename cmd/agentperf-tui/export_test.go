package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// export runs the export command without the root command, and returns its output.
func export(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, messages bytes.Buffer
	cmd := exportCmd(newApp(&out, &messages))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

func TestExport(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		want string // the start of the output
	}{
		{"phases", []string{sampleRun}, "phase_idx,concurrency,window_seconds,"},
		{"series", []string{sampleRun, "--table", "series", "--bucket", "10"}, "phase_idx,start,start_utc,"},
		{"curve", []string{sampleRun, sampleRun, "--table", "curve", "--gpus", "52"}, "run,concurrency,gpus,"},
		{"HTML", []string{sampleRun, "--format", "html"}, "<!doctype html>"},
		{"Markdown", []string{sampleRun, "--format", "markdown"}, "# bm_agentperf_dsv4_5p1d/c1010\n\n|  |"},
		{"curve as Markdown", []string{sampleRun, "--table", "curve", "--format", "markdown"}, "# Throughput vs. speed\n"},
		{"comparison as Markdown", []string{"--parity", sampleRun, sampleRun, "--format", "markdown"}, "**"},
		{"curve as HTML", []string{sampleRun, "--table", "curve", "--format", "html"}, "<!doctype html>"},
		{"comparison", []string{"--parity", sampleRun, sampleRun}, "metric,key,"},
		{"comparison as HTML", []string{"--parity", sampleRun, sampleRun, "--format", "html"}, "<!doctype html>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := export(t, tt.args...)
			if err != nil || !strings.HasPrefix(out, tt.want) {
				t.Errorf("%.200s, %v", out, err)
			}
		})
	}
	for _, tt := range [][]string{
		{sampleRun, "--format", "pdf"},
		{sampleRun, "--table", "rows"},
		{sampleRun, sampleRun},
		{"--parity", sampleRun},
		{filepath.Join(t.TempDir(), "none")},
	} {
		if out, err := export(t, tt...); err == nil || out != "" {
			t.Errorf("%v: %q, no error", tt, out)
		}
	}
}

// A failed export must not replace a device by a file, nor mention a temporary file.
func TestExportWriteErrors(t *testing.T) {
	t.Parallel()
	_, err := export(t, sampleRun, "-o", "/dev/full")
	if info, serr := os.Stat("/dev/full"); err == nil || serr != nil || info.Mode().IsRegular() {
		t.Errorf("device: %v, %v", err, serr)
	}
	var exit exitError
	if _, err := export(t, sampleRun, "-o", filepath.Join(t.TempDir(), "none", "x")); !errors.As(err, &exit) ||
		exit.code != 2 || !strings.Contains(err.Error(), "create it first") {
		t.Errorf("missing directory: %v", err)
	}
}

func TestExportJSON(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.json")
	if _, err := export(t, sampleRun, "--format", "json", "--out", path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Name   string
		Phases []struct{ Concurrency int }
		Series []struct {
			Buckets []struct{ Requests int }
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, b := range doc.Series[0].Buckets {
		n += b.Requests
	}
	if doc.Phases[0].Concurrency != 1010 || n != 240 {
		t.Errorf("%+v: %d requests in the series, want 240", doc, n)
	}
}
