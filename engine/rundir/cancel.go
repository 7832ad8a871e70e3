package rundir

import (
	"os/user"
	"path/filepath"
	"time"

	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// cancelRequest is who asked for the end of a run.
type cancelRequest struct {
	User string    `json:"user"`
	Host string    `json:"host"`
	At   time.Time `json:"t"`
}

// WriteCancel records in a run's folder that the user of this process asks for the
// run's end, on a host at a time.
func WriteCancel(dir, host string, at time.Time) error {
	by := cancelRequest{Host: host, At: at.UTC()}
	if u, err := user.Current(); err == nil { // its name is for people only
		by.User = u.Username
	}
	return smallfile.WriteJSON(filepath.Join(dir, CancelFile), by, 0o644)
}

// CancelledBy tells who asked for a run's end and where; empty: nobody did.
func CancelledBy(dir string) string {
	var by cancelRequest
	if err := smallfile.ReadJSON(filepath.Join(dir, CancelFile), &by); err != nil {
		return ""
	}
	return "cancelled by " + by.User + " on " + by.Host
}
