package mockserver

import "time"

// Fault is what happens to one request.
type Fault string

// The faults a request can meet. FaultNone is the zero value.
const (
	FaultNone       Fault = ""
	FaultHTTPError  Fault = "http_error"  // status 500 instead of an answer
	FaultAbort      Fault = "abort"       // the connection is cut in mid-stream
	FaultEventError Fault = "event_error" // an error event in mid-stream, then the end
)

// Faults makes a worker misbehave. The zero value is a worker without fault.
type Faults struct {
	// HTTPError, Abort and EventError are fractions of all requests (0 to 1,
	// together at most 1) that meet the fault of that name. Which ones is drawn
	// from the request's key, so a repeated request meets its fault again.
	HTTPError, Abort, EventError float64
	// SlowStart is how long after its creation a worker reports that it is not
	// ready (status 503 on /health).
	SlowStart time.Duration
}

// For is the fault that the request with this key meets.
func (f Faults) For(key uint64) Fault {
	u := unit(key, saltFault)
	switch {
	case u < f.HTTPError:
		return FaultHTTPError
	case u < f.HTTPError+f.Abort:
		return FaultAbort
	case u < f.HTTPError+f.Abort+f.EventError:
		return FaultEventError
	}
	return FaultNone
}
