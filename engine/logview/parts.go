package logview

import "time"

// NewFileView is a view of a file as it is: a line of more than 64 KiB comes in parts, so that all
// of it can be seen and searched, and what stands before a carriage return is kept. However long a
// line is, its parts are found without reading the rest of it.
//
// A part ends where the byte offset in the file is a multiple of 64 KiB, so that
// it is the same whichever way one comes to it.
func NewFileView(path string) *View {
	v := NewView(time.UTC, path)
	v.files[0].parts = true
	return v
}

// nextPart is where the part of a long line ends that has a byte at an offset.
func nextPart(at int64) int64 { return at - at%maxText + maxText }

// lastPart is where the last part begins of n bytes of a line from at on.
func lastPart(at int64, n int) int64 {
	end := at + int64(n)
	if n <= maxText {
		return at
	}
	return (end - 1) - (end-1)%maxText
}

// PartAt is where the part of a line begins that holds the byte at an offset, as far
// as that can be told from where the line begins.
func (*View) PartAt(line, at int64) int64 {
	if at-line <= maxText {
		return line
	}
	return at - at%maxText
}

// inside says whether an offset is between two parts of a line.
func (f *logFile) inside(at int64) (bool, error) {
	if at == 0 || at%maxText != 0 {
		return false, nil
	}
	var b [2]byte
	n, _, err := f.readAt(b[:], at-1)
	return n == 2 && b[0] != '\n', err
}
