package main

import "bytes"

// afterHeader is the original program's -s: what follows the first LFLF, CRCR or CRLFCRLF, nothing where there is none.
func afterHeader(raw []byte) []byte {
	best := len(raw)
	for _, end := range []string{"\n\n", "\r\r", "\r\n\r\n"} {
		if i := bytes.Index(raw[:best], []byte(end)); i >= 0 {
			best = i + len(end)
		}
	}
	return raw[best:]
}

// originalMbox is the original program's --mbox: a message begins after each line "From ", loses one ">" of lines that
// begin with ">From ", ">>From " and so on, and its last line end. It is nil where there is no such line.
func originalMbox(raw []byte) [][]byte {
	from := []byte("From ")
	var out [][]byte
	var m []byte
	begun := false
	flush := func() {
		if begun {
			out = append(out, bytes.TrimSuffix(m, []byte("\n")))
		}
	}
	for line := range bytes.Lines(raw) {
		switch {
		case bytes.HasPrefix(line, from):
			flush()
			begun, m = true, nil
			continue
		case line[0] == '>' && bytes.HasPrefix(bytes.TrimLeft(line, ">"), from):
			line = line[1:]
		}
		m = append(m, line...)
	}
	flush()
	return out
}
