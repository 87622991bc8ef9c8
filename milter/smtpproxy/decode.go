package smtpproxy

import "bytes"

// A decoder turns the octets that follow a 354 into content, as RFC 5321 section 4.5.2 has it: only CRLF.CRLF ends it,
// and a line's first dot is dropped. A line begins after CRLF and nowhere else: what comes after a bare LF or a bare CR
// is no start of a line, so that nothing that another server might take for an end can hide there.
//
// Runs of CR before LF become one CRLF; a bare LF becomes CRLF and is counted; all other octets stay. The zero value
// is at the beginning of content.
type decoder struct {
	state  decodeState
	crs    int // in stateCR: carriage returns read and not yet given out
	bareLF int // line feeds without CR
}

type decodeState uint8

const (
	stateLine  decodeState = iota // at the beginning of a line
	stateDot                      // after a line's first dot, which is not given out
	stateDotCR                    // after the CR behind it
	stateText                     // within a line
	stateCR                       // after one or more CR within a line or at its beginning
	stateEnd                      // CRLF.CRLF was read
)

// decode appends the content in src to dst and returns how much of src was read: all, or less where done tells that
// the content ended. dst grows by no more than 2*len(src)+d.crs.
func (d *decoder) decode(dst, src []byte) (out []byte, n int, done bool) {
	for n < len(src) {
		if d.state == stateText || d.state == stateLine && plainStart(src[n]) {
			var read int
			dst, read = d.line(dst, src[n:])
			n += read
			continue
		}
		dst = d.step(dst, src[n])
		n++
		if d.state == stateEnd {
			return dst, n, true
		}
	}
	return dst, n, false
}

// plainStart tells whether a line that begins so needs no care before its end.
func plainStart(c byte) bool { return c != '.' && c != '\r' && c != '\n' }

// line takes the rest of a line, or of src, at once.
func (d *decoder) line(dst, src []byte) (out []byte, n int) {
	end := bytes.IndexByte(src, '\n')
	whole := end >= 0
	if !whole {
		end = len(src)
	}
	text := end
	for text > 0 && src[text-1] == '\r' {
		text--
	}
	dst = append(dst, src[:text]...)
	switch {
	case !whole:
		d.state, d.crs = stateText, end-text
		if d.crs > 0 {
			d.state = stateCR
		}
		return dst, end
	case text == end:
		d.bareLF++
		d.state = stateText
	default:
		d.state = stateLine
	}
	return append(dst, '\r', '\n'), end + 1
}

// step takes one octet.
func (d *decoder) step(dst []byte, c byte) []byte {
	switch d.state {
	case stateLine, stateText:
		return d.begin(dst, c)
	case stateDot:
		if c == '\r' {
			d.state = stateDotCR
			return dst
		}
		d.state = stateText
		return d.begin(dst, c)
	case stateDotCR:
		if c == '\n' {
			d.state = stateEnd
			return dst
		}
		d.state, d.crs = stateCR, 1
		return d.step(dst, c)
	default: // stateCR
		return d.afterCR(dst, c)
	}
}

// begin takes an octet that no CR and no stuffed dot stands before.
func (d *decoder) begin(dst []byte, c byte) []byte {
	switch {
	case c == '.' && d.state == stateLine:
		d.state = stateDot
		return dst
	case c == '\r':
		d.state, d.crs = stateCR, 1
		return dst
	case c == '\n':
		d.bareLF++
		d.state = stateText
		return append(dst, '\r', '\n')
	}
	d.state = stateText
	return append(dst, c)
}

// afterCR takes an octet after one or more CR.
func (d *decoder) afterCR(dst []byte, c byte) []byte {
	switch c {
	case '\r':
		if d.crs++; d.crs >= maxCRs {
			dst = d.flushCRs(dst)
		}
		return dst
	case '\n':
		d.state = stateLine
		return append(dst, '\r', '\n')
	}
	d.state = stateText
	return append(d.flushCRs(dst), c)
}

// maxCRs bounds the carriage returns that wait for what follows them. A longer run is content, as it is.
const maxCRs = 64 << 10

// flushCRs gives out those that wait.
func (d *decoder) flushCRs(dst []byte) []byte {
	for range d.crs {
		dst = append(dst, '\r')
	}
	d.crs = 0
	return dst
}
