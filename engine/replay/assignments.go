package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/agentperf/agentperf-tui/recipes/problem"
	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// assignments maps users to the ids of their conversations.
type assignments struct {
	users   map[int][]string
	perUser int // maximum number of conversations of a user
}

// maxAssignments limits the size of the file, in MiB. 20,000 users need about 1 MiB.
const maxAssignments = 256

func readAssignments(path string) (assignments, error) {
	data, err := smallfile.Read(path, maxAssignments)
	if err != nil {
		return assignments{}, openError("user assignments", "user_assignments_path", err)
	}
	a, err := parseAssignments(smallfile.TrimBOM(data))
	if err != nil {
		return assignments{}, problem.Errorf(problem.DatasetInvalid, "user assignments: %s: %w", path, err)
	}
	return a, nil
}

// parseAssignments parses an object whose key "assignments" holds either a list of lists of
// conversation ids or an object of such lists keyed by user index.
func parseAssignments(data []byte) (assignments, error) {
	a := assignments{}
	dec := json.NewDecoder(bytes.NewReader(data))
	err := readObject(dec, func(key string) error {
		if key != "assignments" {
			return dec.Decode(new(json.RawMessage))
		}
		if a.users != nil {
			return problem.New(problem.DatasetInvalid, `duplicate key "assignments"`)
		}
		a.users = make(map[int][]string)
		return a.parseUsers(dec)
	})
	switch {
	case errors.Is(err, io.EOF) && len(bytes.TrimSpace(data)) == 0:
		return assignments{}, problem.New(problem.DatasetInvalid, "file is empty")
	case errors.Is(err, io.EOF): // the error of Token within a document
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return assignments{}, fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
	}
	if len(a.users) == 0 {
		return assignments{}, problem.New(problem.DatasetInvalid,
			`no users found; add the key "assignments" with a list of conversation ids for each user`)
	}
	return a, nil
}

func (a *assignments) parseUsers(dec *json.Decoder) error {
	open, err := dec.Token()
	if err != nil {
		return err
	}
	switch open {
	case json.Delim('['):
		for user := 0; dec.More(); user++ {
			if err := a.parseUser(dec, user); err != nil {
				return err
			}
		}
		_, err = dec.Token()
		return err
	case json.Delim('{'):
		return readMembers(dec, func(key string) error {
			user, err := strconv.Atoi(key)
			if err != nil || user < 0 || strconv.Itoa(user) != key {
				return problem.Errorf(problem.DatasetInvalid, "assignments: key %q is not a user index such as \"0\"", key)
			}
			if _, duplicate := a.users[user]; duplicate {
				return problem.Errorf(problem.DatasetInvalid, "assignments: duplicate user %d", user)
			}
			return a.parseUser(dec, user)
		})
	}
	return problem.Errorf(problem.DatasetInvalid,
		"assignments must be a list of lists or an object keyed by user index, got %v", open)
}

func (a *assignments) parseUser(dec *json.Decoder, user int) error {
	var ids []string
	if err := dec.Decode(&ids); err != nil {
		return problem.Errorf(problem.DatasetInvalid, "user %d: not a list of conversation ids: %w", user, err)
	}
	if len(ids) == 0 {
		return problem.Errorf(problem.DatasetInvalid, "user %d: no conversation ids; assign at least one", user)
	}
	a.users[user] = ids
	a.perUser = max(a.perUser, len(ids))
	return nil
}

// readObject reads a JSON object and calls f for each key; f must read the value.
func readObject(dec *json.Decoder, f func(key string) error) error {
	open, err := dec.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return problem.Errorf(problem.DatasetInvalid, "not a JSON object: %v", open)
	}
	return readMembers(dec, f)
}

func readMembers(dec *json.Decoder, f func(key string) error) error {
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return problem.Errorf(problem.DatasetInvalid, "not a JSON key: %v", key)
		}
		if err := f(name); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}
