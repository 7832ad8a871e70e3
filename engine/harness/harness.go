// Package harness reads what a run of the old benchmark harness leaves in its directory:
// parameters, launch lines, engine configs, the client's command, its banner and its outputs. Each
// value comes with the artifact and the line that it stands on. What can't be read as it should is
// a problem beside the values, never an error. The package judges nothing: what a value means for a
// recipe is the caller's matter.
package harness

import (
	"fmt"
	"strings"

	"github.com/agentperf/agentperf-tui/engine/harness/yamldoc"
)

// Evidence is one place in a run directory that a value rests on.
type Evidence struct {
	Artifact string `json:"artifact"`       // file name relative to the run directory
	Line     int    `json:"line,omitempty"` // from 1; 0 where the whole file, or its name, is meant
	// Column is the byte in the line where Raw begins, from 1; 0 where Raw does not
	// stand there word for word.
	Column int    `json:"column,omitempty"`
	Key    string `json:"key,omitempty"` // variable, label, flag or YAML path
	Raw    string `json:"raw,omitempty"` // the value as found; long ones are cut at 4 KiB
}

// MaxRaw bounds the raw value of an [Evidence], in bytes.
const MaxRaw = 4096

// evidence makes an Evidence of raw, which is to be found in the line at or after the byte offset.
func evidence(artifact string, number int, line, key, raw string, offset int) Evidence {
	ev := Evidence{Artifact: artifact, Line: number, Key: key, Raw: raw}
	if len(ev.Raw) > MaxRaw {
		ev.Raw = strings.ToValidUTF8(ev.Raw[:MaxRaw], "")
	}
	offset = min(max(offset, 0), len(line))
	if i := strings.Index(line[offset:], ev.Raw); i >= 0 && ev.Raw != "" && i < 4096 {
		ev.Column = offset + i + 1
	}
	return ev
}

// Value is a text and where it stands.
type Value struct {
	Text string
	At   Evidence
}

// Problem is something about an artifact that could not be read as it should.
type Problem = yamldoc.Problem

// Config is a YAML file of a run.
type Config struct {
	*yamldoc.Doc
	Artifact string
}

// At is the evidence of a leaf.
func (c *Config) At(l yamldoc.Leaf) Evidence {
	line := ""
	if l.Node.Line >= 1 && l.Node.Line <= len(c.Lines) {
		line = strings.TrimSuffix(c.Lines[l.Node.Line-1], "\r")
	}
	return evidence(c.Artifact, l.Node.Line, line, l.Path(), yamldoc.Text(l.Node), l.Node.Column-1)
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
