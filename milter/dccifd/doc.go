// Package dccifd is the front door for content scanners: it answers the text protocol of the daemon dccifd, whose clients
// are in SpamAssassin, rspamd, Exim and Haraka, from what spamsim has counted. The counts are spamsim's own, under its own
// name; nothing here computes, stores or asks for checksums of the Distributed Checksum Clearinghouse.
//
// # A request
//
// A connection carries one request; lines end in LF, octets are taken as they come:
//
//	options, separated by blanks
//	address of the SMTP client [CR its name]
//	HELO
//	envelope sender, may be empty
//	recipients, one a line, each [CR local user]
//	an empty line, the message without dot-stuffing, and a half-close
//
// Of the options "query" judges without counting, "header" and "cksums" ask for the header line, "body" for the message
// with that line on top; every other is ignored, "spam" and the "grey" ones among them: a report is counted like any
// message, and labels come from people. No recipients mean no delivery: judged, not counted. What a client writes for an
// envelope that it does not know (the recipient "unknown" of SpamAssassin, test@example.com of rspamd, <> and 0.0.0.0)
// is unknown here too.
//
// A client that dies within the message looks like one that is done: the protocol tells neither length nor end. One that
// is cut before it, or says more than is allowed, gets a temporary failure and is not counted.
//
// # An answer
//
//	A                                 or T: a temporary failure, nothing is known
//	AA                                an A for each recipient
//	X-DCC-spamsim-Metrics: mx1 1; bulk Body=many Fuz1=many Fuz2=many
//	                                  an empty line, then close
//
// The result is always A, since what is done with bulk mail is the scanner's affair, or T where judging itself failed. The
// words after the semicolon are what clients read:
//
//	bulk Body=many Fuz1=many Fuz2=many    verdict bulk
//	Body=4 Fuz1=4 Fuz2=3                  verdict clean: copies, distinct senders, distinct networks of senders
//	ok Body=4 Fuz1=4 Fuz2=3               verdict exempt: the same counts, by a rule no bulk
//	abstain                               too little text to judge: nothing was counted
//	skipped                               over the size that is judged
//	error                                 with result T alone
//
// A number never reaches 999999, which SpamAssassin and rspamd take for many: it stays at 999998. There is no "rep=":
// SpamAssassin rewards a low one, and rspamd 3.4 multiplies its score by it. The line is not folded and shorter than 120
// characters: Exim keeps no more, and old versions of rspamd read one line.
package dccifd
