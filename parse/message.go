// Package parse turns the raw bytes of a message into the text that a person would see.
//
// Parsing never fails: any bytes are a message, and what is wrong with one is listed in [Message.Defects].
//
// The MIME tree is walked here and not by go-message, whose reader ends at the first malformed line or part, a missing
// boundary, or a foreign character in base64, and whose time is quadratic in the depth of nesting: a filter that
// loses the text there is a filter that senders can blind. go-message has what it is good at, the charsets. The decoders
// of base64, quoted-printable and encoded words go on behind a flaw; what is sound decodes as in the standard library.
package parse

// Limits bound the work spent on one message. A zero field means its default.
type Limits struct {
	HeaderBytes  int // octets of one header block, default 256 KiB
	Depth        int // nesting of multiparts and message/rfc822, default 20
	Parts        int // leaves and multiparts together, default 500
	DecodedBytes int // decoded text of all parts, and again as much of attachments; default 8 MiB
}

// or returns the limits with the defaults filled in.
func (l Limits) or() Limits {
	set := func(n *int, def int) {
		if *n <= 0 {
			*n = def
		}
	}
	set(&l.HeaderBytes, 256<<10)
	set(&l.Depth, 20)
	set(&l.Parts, 500)
	set(&l.DecodedBytes, 8<<20)
	return l
}

// A Message is what was read out of one raw message.
type Message struct {
	Fields      []Field      // of the top header, in order
	Subject     string       // decoded (RFC 2047), white space collapsed
	From        string       // first addr-spec of From, lower case; "" where there is none
	People      string       // decoded values of From, Reply-To and To, the beginning of each: names and addresses
	MessageID   string       // msg-id without its angle brackets
	Type        string       // media type of the top entity, lower case: "text/plain", "multipart/report"
	Blocks      []Block      // visible text in reading order
	Hidden      string       // text that HTML hides from the reader
	Links       []string     // targets of links in HTML, and http(s) addresses in plain text
	Attachments []Attachment // every leaf that is not read as text
	Defects     []Defect     // in the order in which they were met
}

// A Field is one header field.
type Field struct {
	Name  string // as written
	Value string // as written after the colon, folds (CRLF or LF) and bytes kept
}

// Kind says what part a stretch of visible text plays.
type Kind uint8

// The kinds of text.
const (
	Body      Kind = iota // the author's own words: what codes are computed of
	Quote                 // quoted from another message
	Signature             // below a signature mark, or an armoured signature
	Footer                // added by a list or a mail provider
	Head                  // header of a quoted message, and the separator above it
)

// A Block is a stretch of visible text of one kind: decoded, not folded, with its line breaks as LF.
type Block struct {
	Kind Kind
	Text string
}

// An Attachment is a leaf that carries no text to read.
type Attachment struct {
	Type string // media type, lower case
	Name string // decoded file name, "" where none is given
	Data []byte // decoded, up to the limit; may share memory with the raw message
	// Inline says that it is a picture which is shown within the message: its disposition is not "attachment" (RFC 2183
	// section 2).
	Inline bool
}

// A Defect is one thing wrong with a message.
type Defect struct {
	Where string // part number as IMAP counts ("1.2"), "" for the top
	What  string // fixed text, no bytes of the message
}
