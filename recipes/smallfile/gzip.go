package smallfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// Decompress returns the text of a file that was just opened. The file is compressed by gzip if it begins like one,
// whatever its name.
func Decompress(f *os.File) (text io.Reader, compressed bool, err error) {
	magic := make([]byte, 2)
	if n, _ := f.ReadAt(magic, 0); n < len(magic) || !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return f, false, nil // an error of the file appears again when it is read
	}
	unpacked, err := gzip.NewReader(bufio.NewReaderSize(f, 32<<10))
	if err != nil {
		return nil, true, fmt.Errorf("damaged compressed data: %w", err)
	}
	return unpacked, true, nil
}
