package engine

import (
	"context"
	"errors"
)

// WriteReference is written below.
func (e *Engine) WriteReference(ctx context.Context, l Located, path string) error {
	return errors.New("wip")
}
