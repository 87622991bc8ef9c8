package smtpproxy

import "bytes"

// An encoder stuffs dots (RFC 5321 section 4.5.2) into content that comes in pieces. The zero value is at the beginning
// of content.
type encoder struct {
	within bool // not at the beginning of a line
	cr     bool // the last octet was CR
}

// encode appends src with each line's first dot doubled. A line begins after CRLF.
func (e *encoder) encode(dst, src []byte) []byte {
	if len(src) == 0 {
		return dst
	}
	if e.cr && src[0] == '\n' {
		dst, src = append(dst, '\n'), src[1:]
		*e = encoder{}
	}
	if len(src) > 0 && src[0] == '.' && !e.within {
		dst = append(dst, '.')
	}
	for {
		i := bytes.Index(src, stuffed)
		if i < 0 {
			break
		}
		dst = append(dst, src[:i+len(stuffed)]...)
		dst = append(dst, '.')
		src, e.within = src[i+len(stuffed):], true
	}
	return e.rest(dst, src)
}

// stuffed is before what a dot is doubled.
var stuffed = []byte("\r\n.")

// rest appends a piece's end, in which nothing is to be stuffed, and notes how it ends.
func (e *encoder) rest(dst, src []byte) []byte {
	if len(src) == 0 {
		e.cr = false // a dot was last, or CRLF, or nothing
		return dst
	}
	e.within = !bytes.HasSuffix(src, stuffed[:2])
	e.cr = src[len(src)-1] == '\r'
	return append(dst, src...)
}

// end appends what ends the content: the CRLF that it lacks and the final dot.
func (e *encoder) end(dst []byte) []byte {
	if e.within {
		dst = append(dst, '\r', '\n')
	}
	return append(dst, '.', '\r', '\n')
}
