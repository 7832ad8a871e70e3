package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/agentperf/agentperf-tui/recipes/smallfile"
)

// assignments says which conversations each user plays, by id.
type assignments struct {
	users   map[int][]string
	perUser int // the longest list
}

// maxAssignments bounds the file, in MiB: 20,000 users take about one.
const maxAssignments = 256

func readAssignments(path string) (assignments, error) {
	data, err := smallfile.Read(path, maxAssignments)
	if err != nil {
		return assignments{}, fmt.Errorf("open the user assignments: %w; "+
			"set user_assignments_path to a file that this machine can read", err)
	}
	a, err := parseAssignments(data)
	if err != nil {
		return assignments{}, fmt.Errorf("read the user assignments: %s: %w", path, err)
	}
	return a, nil
}

// parseAssignments reads an object whose key "assignments" holds a list of
// lists of conversation ids, or an object of such lists keyed by user index.
func parseAssignments(data []byte) (assignments, error) {
	a := assignments{}
	dec := json.NewDecoder(bytes.NewReader(data))
	err := object(dec, func(key string) error {
		if key != "assignments" {
			return dec.Decode(new(json.RawMessage))
		}
		if a.users != nil {
			return errors.New(`the key "assignments" occurs twice`)
		}
		a.users = make(map[int][]string)
		return a.parseUsers(dec)
	})
	if err != nil {
		return assignments{}, fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
	}
	if len(a.users) == 0 {
		return assignments{}, errors.New(`no users: want a key "assignments" with a list of conversation ids for each user`)
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
		return members(dec, func(key string) error {
			user, err := strconv.Atoi(key)
			if err != nil || user < 0 || strconv.Itoa(user) != key {
				return fmt.Errorf("assignments: key %q: want a user index such as \"0\"", key)
			}
			if _, twice := a.users[user]; twice {
				return fmt.Errorf("assignments: user %d occurs twice", user)
			}
			return a.parseUser(dec, user)
		})
	}
	return fmt.Errorf("assignments is %v: want a list of lists, or an object keyed by user index", open)
}

func (a *assignments) parseUser(dec *json.Decoder, user int) error {
	var ids []string
	if err := dec.Decode(&ids); err != nil {
		return fmt.Errorf("user %d: want a list of conversation ids: %w", user, err)
	}
	if len(ids) == 0 {
		return fmt.Errorf("user %d: the list is empty: want at least one conversation id", user)
	}
	a.users[user] = ids
	a.perUser = max(a.perUser, len(ids))
	return nil
}

// object reads one JSON object and calls f for each key; f reads the value.
func object(dec *json.Decoder, f func(key string) error) error {
	open, err := dec.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return fmt.Errorf("found %v: want a JSON object", open)
	}
	return members(dec, f)
}

func members(dec *json.Decoder, f func(key string) error) error {
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		name, ok := key.(string)
		if !ok {
			return fmt.Errorf("found %v: want a key", key)
		}
		if err := f(name); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}
