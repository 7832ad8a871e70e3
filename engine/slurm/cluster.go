package slurm

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// ClusterName returns the name of the cluster; empty if it is unknown.
func ClusterName(ctx context.Context) string { return configValue(ctx, "ClusterName") }

// KillWait returns the time between SIGTERM and SIGKILL when this cluster ends a job. It
// returns Slurm's default of 30 s if the setting is unknown.
func KillWait(ctx context.Context) time.Duration {
	text, _, _ := strings.Cut(configValue(ctx, "KillWait"), " ") // 30 sec
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds < 1 {
		return 30 * time.Second
	}
	return time.Duration(seconds) * time.Second
}

// Version returns the version of Slurm; empty if it is unknown.
func Version(ctx context.Context) string {
	out, err := call(ctx, queryLimit, "scontrol", "--version")
	if err != nil {
		return ""
	}
	words := strings.Fields(out) // slurm 24.11.5, slurm-wlm 22.05.8
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// configValue returns a value of the cluster's configuration; empty if it is unknown.
func configValue(ctx context.Context, key string) string {
	out, err := call(ctx, 10*time.Second, "scontrol", "show", "config")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(out) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
