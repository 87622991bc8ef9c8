package milter

// Commands of the MTA: SMFIC_* of mfdef.h, with the version that brought those beyond version 2.
const (
	cmdAbort   = 'A' // SMFIC_ABORT: forget the transaction
	cmdBody    = 'B' // SMFIC_BODY: a piece of the body, at most 65,535 octets
	cmdConnect = 'C' // SMFIC_CONNECT
	cmdMacro   = 'D' // SMFIC_MACRO: the command they belong to, then name NUL value NUL ...
	cmdBodyEOB = 'E' // SMFIC_BODYEOB: end of the message; may carry a last piece
	cmdHelo    = 'H' // SMFIC_HELO
	cmdQuitNC  = 'K' // SMFIC_QUIT_NC: this SMTP session ended, another follows (6)
	cmdHeader  = 'L' // SMFIC_HEADER: name NUL value NUL
	cmdMail    = 'M' // SMFIC_MAIL: address NUL argument NUL ...
	cmdEOH     = 'N' // SMFIC_EOH
	cmdOptNeg  = 'O' // SMFIC_OPTNEG: version, actions, protocol, 32 bits each
	cmdQuit    = 'Q' // SMFIC_QUIT
	cmdRcpt    = 'R' // SMFIC_RCPT: address NUL argument NUL ...
	cmdData    = 'T' // SMFIC_DATA (4)
	cmdUnknown = 'U' // SMFIC_UNKNOWN: an SMTP command that the MTA does not know (3)
)

// Answers to the MTA: SMFIR_*.
const (
	actChgHeader  = 'm' // SMFIR_CHGHEADER: index from 1 among fields of that name, name NUL value NUL; "" deletes
	actContinue   = 'c' // SMFIR_CONTINUE
	actInsHeader  = 'i' // SMFIR_INSHEADER: place, name NUL value NUL
	actProgress   = 'p' // SMFIR_PROGRESS: still at it, start the clock anew
	actQuarantine = 'q' // SMFIR_QUARANTINE: reason NUL
	actReject     = 'r' // SMFIR_REJECT
	actReplyCode  = 'y' // SMFIR_REPLYCODE: text NUL
	actTempFail   = 't' // SMFIR_TEMPFAIL
)

// What a milter may do to a message: SMFIF_*.
const (
	mayAddHeaders    = 0x01 // SMFIF_ADDHDRS, also for inserting
	mayChangeHeaders = 0x10 // SMFIF_CHGHDRS
	mayQuarantine    = 0x20 // SMFIF_QUARANTINE
)

// What the MTA leaves out, and which events it wants no answer to: SMFIP_*.
const (
	noUnknown    = 0x000100 // SMFIP_NOUNKNOWN
	noData       = 0x000200 // SMFIP_NODATA
	nrHeader     = 0x000080 // SMFIP_NR_HDR
	nrConnect    = 0x001000 // SMFIP_NR_CONN
	nrHelo       = 0x002000 // SMFIP_NR_HELO
	nrMail       = 0x004000 // SMFIP_NR_MAIL
	nrRcpt       = 0x008000 // SMFIP_NR_RCPT
	nrData       = 0x010000 // SMFIP_NR_DATA
	nrUnknown    = 0x020000 // SMFIP_NR_UNKN
	nrEOH        = 0x040000 // SMFIP_NR_EOH
	nrBody       = 0x080000 // SMFIP_NR_BODY
	leadingSpace = 0x100000 // SMFIP_HDR_LEADSPC: values keep the space after the colon, both ways
)

// Versions that are spoken: SMFI_VERSION of Sendmail 8.10 and of 8.14.
const (
	minVersion = 2
	maxVersion = 6
)

// noReply names the flag under which an event gets no answer. Events that are not in it never get one, but for the end
// of the message, which always does.
var noReply = [256]uint32{
	cmdConnect: nrConnect,
	cmdHelo:    nrHelo,
	cmdMail:    nrMail,
	cmdRcpt:    nrRcpt,
	cmdData:    nrData,
	cmdUnknown: nrUnknown,
	cmdHeader:  nrHeader,
	cmdEOH:     nrEOH,
	cmdBody:    nrBody,
}
