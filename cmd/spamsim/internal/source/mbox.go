package source

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"
)

// stream reads an mbox, a single message, or either of them gzipped.
func (r *reader) stream(name string, in io.Reader) bool {
	b := bufio.NewReaderSize(in, 256<<10)
	if magic, _ := b.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(b)
		if err != nil {
			return r.fail(name, err)
		}
		defer z.Close()
		b = bufio.NewReaderSize(z, 256<<10)
	}
	if head, _ := b.Peek(5); bytes.Equal(head, from) {
		return r.mbox(name, b)
	}
	raw, err := io.ReadAll(io.LimitReader(b, r.Limit+1))
	switch {
	case err != nil:
		return r.fail(name, err)
	case int64(len(raw)) > r.Limit:
		return r.fail(name, r.tooLarge())
	}
	return r.yield(Message{Name: name, Raw: raw})
}

var (
	from = []byte("From ")
	// dated finds the time and the year without which a line that begins with "From " is more likely prose.
	dated = regexp.MustCompile(`[0-9]{1,2}:[0-9]{2}.*[0-9]{4}`)
)

// mbox reads messages as RFC 4155 describes them, leniently. A message begins at a line "From " that is the first or
// follows an empty one and that holds a time, unless the file's first such line holds none either. One ">" is taken
// from ">From ", ">>From ", ...: right for mboxrd, and for mboxo where its writer added it. Content-Length is not
// believed. Lines end in LF or CRLF.
func (r *reader) mbox(name string, b *bufio.Reader) bool {
	m := mboxReader{r: r, name: name}
	for {
		line, err := b.ReadSlice('\n')
		whole := err == nil
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		if len(line) > 0 && !m.line(line, whole) {
			return false
		}
		if errors.Is(err, io.EOF) {
			return m.flush()
		}
		if err != nil { // what was read of the last message is cut: it is not handed out
			return r.fail(name, err)
		}
	}
}

// An mboxReader puts lines together to messages.
type mboxReader struct {
	r        *reader
	name     string
	n        int
	stamp    time.Time
	raw      []byte
	begun    bool
	strict   bool // a line "From " needs a time
	tooLarge bool
	empty    bool // the last line was empty, and its end is the last of raw
	inside   bool // the last piece of a line had no end: what comes continues it
}

// line takes one line, or a piece of a long one; whole is false where its end is missing.
func (m *mboxReader) line(line []byte, whole bool) bool {
	continued := m.inside
	m.inside = !whole
	if !continued && bytes.HasPrefix(line, from) && m.separates(line) {
		if m.begun && !m.flush() {
			return false
		}
		m.begun, m.raw, m.tooLarge, m.empty = true, nil, false, false
		m.stamp = stamp(line)
		return true
	}
	if !continued && line[0] == '>' && bytes.HasPrefix(bytes.TrimLeft(line, ">"), from) {
		line = line[1:]
	}
	m.empty = !continued && (len(line) == 1 && line[0] == '\n' || bytes.Equal(line, []byte("\r\n")))
	if int64(len(m.raw)+len(line)) > m.r.Limit+2 { // 2: the empty line at the end is not the message's
		m.raw, m.tooLarge = nil, true
	}
	if !m.tooLarge {
		m.raw = append(m.raw, line...)
	}
	return true
}

// separates tells whether a line "From " begins a message.
func (m *mboxReader) separates(line []byte) bool {
	if !m.begun {
		m.strict = dated.Match(line)
		return true
	}
	return (m.empty || len(m.raw) == 0 && !m.tooLarge) && (!m.strict || dated.Match(line))
}

// flush hands out the message that was read, without the empty line that belongs to the mbox.
func (m *mboxReader) flush() bool {
	if !m.begun {
		return true
	}
	name := fmt.Sprintf("%s#%d", m.name, m.n)
	m.n++
	raw := m.raw
	if m.empty {
		raw = bytes.TrimSuffix(bytes.TrimSuffix(raw, []byte("\n")), []byte("\r"))
	}
	if m.tooLarge || int64(len(raw)) > m.r.Limit {
		return m.r.fail(name, m.r.tooLarge())
	}
	if raw == nil {
		raw = []byte{}
	}
	return m.r.yield(Message{Name: name, Raw: raw, Stamp: m.stamp})
}

// stamp reads the time of a line "From sender Mon Jan  2 15:04:05 2006": asctime, which is UTC by RFC 4155, or with
// a zone before or after the year, as some write it. It is zero where there is none.
func stamp(line []byte) time.Time {
	f := bytes.Fields(line)
	for _, layout := range []string{
		"Mon Jan 2 15:04:05 2006", "Mon Jan 2 15:04:05 2006 -0700", "Mon Jan 2 15:04:05 MST 2006",
		"Mon Jan 2 15:04 2006", "Mon, 2 Jan 2006 15:04:05 -0700",
	} {
		if n := len(bytes.Fields([]byte(layout))); len(f) >= n+1 {
			if t, err := time.Parse(layout, string(bytes.Join(f[len(f)-n:], []byte(" ")))); err == nil {
				return t.UTC()
			}
		}
	}
	return time.Time{}
}
