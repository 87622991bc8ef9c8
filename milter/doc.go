// Package milter is the front door for Sendmail's milter protocol, versions 2 to 6: an MTA (Postfix, Sendmail) opens a
// connection for each SMTP session, tells of each step, and does with the message what the answer to its end says.
// [Server] gathers each message whole, hands it to a [filter.CheckFunc], and answers with fields to insert at the top,
// forged fields to delete, and the action.
//
// The protocol is not in any RFC. Names and values are those of Sendmail's include/libmilter/mfdef.h and mfapi.h; what
// Postfix makes of them was measured on Postfix 3.7.
//
// # Why the protocol code is our own
//
// Package emersion/go-milter v0.5.0 serves the tests as client and as reference, but not the product:
//
//   - it answers version 2 with the flags it was built with and never looks at what the MTA offers, so that an MTA with
//     fewer abilities refuses it;
//   - it has no way to report progress from the end of a message, no deadline on a read, no limit of connections and
//     no orderly stop; its Serve ends at the first failed Accept; a panic ends the process or the SMTP session;
//   - its server reads and writes packet by packet without a buffer and allocates for each: BenchmarkSessions holds
//     both against each other in one run.
//
// # What an MTA does that one would not expect
//
//   - ABORT also comes after a message that went well, and means "forget the transaction".
//   - The queue id, macro i, is absent at MAIL and at the first RCPT. Macros are therefore merged over the stages.
//   - Deleting field 1 of a name makes field 2 the new field 1: deletions go from the highest index down.
//   - A fold in a value is LF TAB; with CR LF TAB Postfix writes CR CR LF.
//   - A percent sign in a reply is a format directive: it is doubled.
//   - Postfix shows recipients that it accepted itself. One that another milter refuses after us is not taken back, and
//     is counted as a recipient; the protocol has no word for it.
//   - Mail that did not come by SMTP is shown as coming from localhost, without the macros of a delivery agent.
package milter
