package parse

import (
	"bytes"
	"strconv"
	"strings"
)

// splitParts cuts a multipart body at its delimiter lines (RFC 2046, 5.1.1) in one pass. flaw says that the last
// delimiter is missing, or that parts come after it; before is how many come before it. After limit parts one more comes back,
// which holds all that is left.
func splitParts(b []byte, boundary string, limit int) (parts [][]byte, before int, flaw string) {
	if boundary = strings.TrimRight(boundary, " \t"); boundary == "" {
		return nil, 0, ""
	}
	mark := append([]byte("--"), boundary...)
	start, closed := -1, false
	at := 0
	for at < len(b) {
		i := bytes.Index(b[at:], mark)
		if i < 0 {
			break
		}
		i += at
		end, last, ok := delimiter(b, i, len(mark))
		if !ok {
			at = i + len(mark)
			continue
		}
		if start >= 0 {
			parts = append(parts, b[start:lineEndBefore(b, i, start)])
		}
		start, at = end, end
		if closed {
			flaw = defectAfterEnd
		}
		if last && !closed {
			before, closed = len(parts), true
		}
		if last {
			start = -1
		}
		if len(parts) == limit {
			break
		}
	}
	if start >= 0 {
		parts = append(parts, b[start:])
		flaw = defectUnclosed
	}
	if !closed {
		before = len(parts)
	}
	return parts, before, flaw
}

// delimiter reports whether the mark of n octets at b[i] is a delimiter line, where the next line begins, and
// whether it is the closing one.
func delimiter(b []byte, i, n int) (end int, last, ok bool) {
	if i > 0 && b[i-1] != '\n' {
		return 0, false, false
	}
	j := i + n
	if bytes.HasPrefix(b[j:], []byte("--")) {
		last = true
		j += 2
	}
	for j < len(b) && (b[j] == ' ' || b[j] == '\t' || b[j] == '\r') {
		j++
	}
	if j < len(b) && b[j] != '\n' {
		return 0, false, false
	}
	return min(j+1, len(b)), last, true
}

// lineEndBefore returns i without the line end before it, which belongs to the delimiter.
func lineEndBefore(b []byte, i, start int) int {
	if i > start && b[i-1] == '\n' {
		i--
		if i > start && b[i-1] == '\r' {
			i--
		}
	}
	return i
}

// guessBoundary finds the boundary of a multipart that declares none, or another one: the first line that begins with
// two hyphens and has a field of MIME below it.
func guessBoundary(b []byte) string {
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		if bytes.HasPrefix(line, []byte("--")) && len(rest) > 8 && bytes.EqualFold(rest[:8], []byte("Content-")) {
			return string(bytes.TrimRight(line[2:], " \t\r"))
		}
		b = rest
	}
	return ""
}

// partNumber returns the number of the nth part, from 0, as IMAP counts.
func partNumber(where string, n int) string {
	if where != "" {
		where += "."
	}
	return where + strconv.Itoa(n+1)
}
