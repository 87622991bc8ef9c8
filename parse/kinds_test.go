package parse

import (
	"slices"
	"strings"
	"testing"
)

func TestCutBlocks(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\nb\n", "BB"},
		{"quote", "hi\n> q\n> r\n\nbye\n", "BQQQB"},
		{"initials", "AB> q\nAB>> r\nsay 3 > 2\n", "QQB"},
		{"introduced", "On Monday, Bob wrote:\n\n> q\n", "QQQ"},
		{"wrapped introduction", "yes\nOn Mon, 2 Sep 2002, Bob\n<b@x.example> wrote:\n> q\nno\n", "BQQQB"},
		{"Yahoo answer", "yes\n\nOn Monday, February 1, 2016 4:58 AM, Bob <b@x.example> wrote:\n\nq\n\nr\n", "BBQQQQQ"},
		{"wrapped Yahoo answer", "oui\nLe lun. 15 nov. 2021 à 19:42, Bob\n<b@x.example> a écrit :\nq\n", "BQQQ"},
		{"answer from a telephone", "ja\nBob <b@x.example> schrieb:\nq\n", "BQQ"},
		{"Zoho answer", "yes\n---- On Tue, 22 Dec 2015 14:17:36 +0530 Bob<b@x.example> wrote ----\nq\n", "BQQ"},
		{"quote without marks above an answer", "On 15 May 2017 19:32, Bob <b@x.example> wrote:\nq\n\nyes\n", "BBBB"},
		{"marks below an empty line", "yes\nOn 15 May 2017 19:32, Bob <b@x.example> wrote:\n\n> q\nno\n", "BQQQB"},
		{"sentence above a forward", "yes\nOn this we spoke.\nBegin forwarded message:\n\nFrom: a\nDate: b\nSubject: c\n\nany\n", "BBHHHHHHQ"},
		{"answer with the time alone", "yes\nOn Wed, Sep 25, 2013, at 03:57 PM, bob wrote:\nq\n", "BQQ"},
		{"answer below a line that begins like it", "On this yes.\nOn Wed, Sep 25, 2013, at 03:57 PM, bob wrote:\nq\n", "BQQ"},
		{"sentence with a time", "Minutes\nYesterday at 10:30 bob wrote:\nq\n", "BBB"},
		{"no program", "Minutes\nOn Monday at 10:30 the board said:\nq\n", "BBB"},
		{"neither address nor time", "Minutes\nOn Monday the board wrote:\nq\n", "BBB"},
		{"no end", "Minutes\nOn Monday at 10:30 Bob wrote\nq\n", "BBB"},
		{"outlook", "yes\n-----Original Message-----\nFrom: a\nany\n", "BHHQ"},
		{"outlook header", "yes\n\nFrom: a\nSent: b\nTo: c\nany\n", "BBHHHQ"},
		{"when before who", "ja\n\nGesendet: Montag, 3. März 2025 um 10:12\nVon: a\nAn: b\nBetreff: c\n\nany\n", "BBHHHHHQ"},
		{"when and where", "We meet.\n\nDate: today\nTo: all\nSubject: a\nPlace: b\n", "BBBBBB"},
		{"report of Exim", "It failed.\n\nReceived: from a\n\tby b\nMIME-Version: 1.0\nUser-Agent: c\nSubject: d\nContent-Language: en\nTo: e\n\nany\n", "BBHHHHHHHHB"},
		{"way without a header", "It came so:\n\nReceived: from a\n by b\nReceived: from c\nSubject: d\n\nany\n", "BBBBBBBB"},
		{"bar", "| q\n| r\n\n: lone\n", "QQQB"},
		{"signature", "yes\n-- \nBob\n", "BSS"},
		{"signature above quote", "yes\n--\nBob\n\n> q\n", "BSSSQ"},
		{"mailman", "yes\n\n_______________________________________________\nX mailing list\nX@lists.example\n", "BBFFF"},
		{"mailman in one line", "yes\n\n______________________X mailing listhttps://x.example/mailman/listinfo/x\n", "BBF"},
		{"line to write on", "yes\n______________________ name of the owner\n", "BB"},
		{"two footers", "yes\n--\nBob\n-------------------\nThis sf.net email is sponsored by: X\n_______________\nX mailing list\n", "BSSFFFF"},
		{"apache", "yes\n-----------\nTo unsubscribe, e-mail: a-unsubscribe@x.example\nFor additional commands, e-mail: b\n", "BFFF"},
		{"footer below a mark", "yes\n_____________\nDo You Yahoo!?\n-- \nIrish Linux Users' Group: ilug@linux.ie\n", "BFFFF"},
		{"advertisement", "yes\n\nhttp://x.example/mailman/listinfo/x\n", "BBF"},
		{"rule above other text", "a\n----------\nb\nc\nd\n\nTo unsubscribe, e-mail: b\n", "BBBBBBF"},
		{"signature under a rule", "a\n----------\nBob  bob@x.example\nThe Works\n", "BFFF"},
		{"box", "| a |\n| b |\n", "BB"},
		{"ornament", ">> BUY NOW <<\n>From here\n", "BB"},
		{"French introduction", "oui\nLe lun. 2 sept. 2002 à 10:00, Bob <b@x.example> a écrit :\n> q\n", "BQQ"},
		{"Chinese introduction", "好\n【 在 abc 的大作中提到: 】\n: q\n: r\n", "BQQQ"},
		{"German forward", "ja\n-----Ursprüngliche Nachricht-----\nVon: a\n", "BHH"},
		{"Gmail forward", "a\n---------- Forwarded message ---------\nFrom: a\nDate: b\nSubject: c\nTo: d\n\nany\n", "BHHHHHHQ"},
		{"Apple forward", "a\nBegin forwarded message:\n\n> From: a\n> Subject: b\n> Date: c\n> To: d\n>\n> any\n", "BHHHHHHQQ"},
		{"Notes forward", "a\n---------- Forwarded by Ann/X/Y on 01/18/2000 \n07:52 AM -----------\n\nb@x.example on 01/17/2000 11:12 AM\n" +
			"To: Ann\ncc: \nSubject: c\n\nany\n", "BHHHHHHHHQ"},
		{"Notes answer", "yes\n\nBob Ray\n04/25/2001 11:48 AM\nTo:\tAnn\ncc:\nSubject: c\n\nany\n", "BBHHHHHHQ"},
		{"Notes answer in German", "ja\nBob am 25.04.2001 11:48:03\nAn: Ann\nKopie:\nThema: c\nany\n", "BHHHHQ"},
		{"fields apart", "a\n---- Forwarded by Ann ----\nThe Works\n\nFrom: Bob 09/01/2000 08:53 AM\n\nTo: Ann\nSubject: c\n\nany\n", "BHHHHHHHHQ"},
		{"wrapped recipients", "From: a\nTo: b@x.example,\nc@x.example;\nd@x.example;\ne@x.example;\nSubject: f\n\nany\n", "HHHHHHHQ"},
		{"fields far apart", "From: a\nTo: b\nb\nSubject: c\nd\ne\nf\ng\nTo: any\n", "HHHHQQQQQ"},
		{"name, date and house above the fields", "---- Forwarded by Ann/X/Y on 01/18/2000\n07:52 AM ----\nThe Works\n\nBob Ray\n04/25/2001 11:48 AM\nTo: Ann\nSubject: c\n\nany\n",
			"HHHHHHHHHQ"},
		{"too many recipients", "From: a\nSent: b\nTo: c\n" + strings.Repeat("d@x.example;\n", maxHeadLines) + "Subject: e\nany\n", "HHH" + strings.Repeat("Q", maxHeadLines+2)},
		{"sentence above a time", strings.Repeat("word ", 10) + "\n04/25/2001 11:48 AM\nTo: a\nSubject: b\nany\n", "BHHHQ"},
		{"sentence that ends in a time", "Bob Ray\nsaid on Monday at 10:30\nTo: a\nSubject: b\nany\n", "BHHHQ"},
		{"forward in a forward", "From: a\nTo: b\nSubject: c\n\nany\nFrom: a\nTo: b\nSubject: c\nany\n", "HHHHQHHHQ"},
		{"time of a meeting", "We meet at 10:30\nDate: today\nTo: all\nSubject: a\n", "BBBB"},
		{"time and one field", "We meet at 10:30\nTo: all\n", "BB"},
		{"end of a forward", "a\n----- End forwarded message -----\nb\n", "BBB"},
		{"tracker", "------- Additional Comments From a@b.example -------\nok\n\n------- You are receiving this mail because: -------\nYou watch\n", "BBBFF"},
		{"table", "a\n---------------\n|NEW|\n--- b@x.example\n", "BBBB"},
		{"border", "+----------+\nhttp://x.example\n+----------+\n", "BBB"},
		{"wide lines under a rule", "a\n-----------\nhttp://x.example " + strings.Repeat("x", 80) + "\n", "BBB"},
		{"rule alone", "yes\n-----------\nTable\n", "BBB"},
		{"pgp", "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\nyes\n-----BEGIN PGP SIGNATURE-----\nVersion: x\n\niQ==\n-----END PGP SIGNATURE-----\n", "SSSBSSSSS"},
		{"fake armour", "-----BEGIN PGP SIGNATURE-----\nbuy this now\nand that too\nand here you\nare my dear\nall of us\n-----END PGP SIGNATURE-----\n", "BBBBBBB"},
		{"groups", "a\n------ Yahoo! Groups Sponsor -----~-->\nbuy\n----------------~->\nb\n", "BFFFB"},
		{"legal notice", "yes, or delete it\n\nThis message may be confidential or privileged. Should you not be its\naddressee, notify the sender and delete it.\n", "BBFF"},
		{"German notice", "ja\nBob\nDie Nachricht ist vertraulich; ein falscher Empfänger möge den Absender benachrichtigen und sie vernichten.\n", "BBF"},
		{"Spanish notice", "sí\nMensaje confidencial, solo para su destinatario. Si lo recibe por error, avise al remitente.\nGracias\n", "BFF"},
		{"words within others", "yes\nOur biconfidential underprivileged were nonaddressees of the resender.\n", "BB"},
		{"half a notice", "yes\nThe terms are confidential; please notify the others.\n", "BB"},
		{"notice in two languages", "yes\nThis is confidential, delete it. Vertraulich, bitte löschen.\n", "BB"},
		{"notice above a text", "This is confidential and privileged; notify the sender and delete it.\n" + strings.Repeat("x\n", 16), strings.Repeat("B", 17)},
		{"closing", "yes\nKind regards,\n\nBob\nThe Works\n", "BSSSS"},
		{"closing above a quote", "ja\nMit freundlichen Grüßen\nBob\n\n> q\n", "BSSSQ"},
		{"closing above a footer", "oui\nCordialement.\nBob\n-----------\nTo unsubscribe, e-mail: b\n", "BSSFF"},
		{"no closing", "yes\nRegards to Ann\nBob\n", "BBB"},
		{"closing of a longer letter", strings.Repeat("yes ", 12) + "\nRegards,\nBob\n", "BBB"},
		{"closing of a letter of eleven words", strings.Repeat("yes ", 11) + "\nRegards,\nBob\n", "BSS"},
		{"closing at the top", "Cheers,\nyes\n", "BB"},
		{"closing above a wide line", "yes\nRegards\n" + strings.Repeat("x", 81) + "\n", "BBB"},
		{"closing above much", "yes\nRegards\n" + strings.Repeat(strings.Repeat("x", 80)+"\n", 6), "BBBBBBBB"},
		{"phone", "yes\nSent from my phone\n", "BS"},
	} {
		joined := ""
		blocks := cutBlocks(c.in)
		for _, b := range blocks {
			joined += b.Text
		}
		if got := letters(blocks); got != c.want || joined != c.in {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// letters has one letter a line, for its kind.
func letters(blocks []Block) string {
	var s strings.Builder
	for _, b := range blocks {
		s.WriteString(strings.Repeat("BQSFH"[b.Kind:b.Kind+1], strings.Count(b.Text, "\n")))
	}
	return s.String()
}

func TestCountWords(t *testing.T) {
	for s, want := range map[string]int{"": 0, " a  b-c\n--\n": 2, "http://a.b/c?d e": 2, "委员会 abc": 4, "привет, мир": 2, "“quoted”": 1} {
		if got := countWords(s, 99); got != want {
			t.Errorf("%d words in %q, want %d", got, s, want)
		}
	}
	if got := countWords("a b c d", 2); got != 2 {
		t.Errorf("%d words counted up to a limit of 2", got)
	}
}

func TestSignatureBounded(t *testing.T) {
	for _, in := range []string{
		"yes\n-- \n" + strings.Repeat("line\n", 16),
		"yes\n-- \n" + strings.Repeat("x", 1001) + "\n",
		"yes\n______________\nX mailing list\n" + strings.Repeat("line\n", 16),
	} {
		if b := cutBlocks(in); len(b) != 1 || b[0].Kind != Body {
			t.Errorf("%.30q... is cut into %d blocks", in, len(b))
		}
	}
}

const legalNotice = "This message is confidential and may be privileged. If you are not its addressee, or have it in error, do not show it to\n" +
	"anybody: notify the sender, delete it from your system and destroy all copies. Any unauthorised use of what it says is unlawful.\n"

func TestSettleKinds(t *testing.T) {
	many := strings.Repeat("> so many words\n", 50)
	const never = noAnswer - 1
	for _, c := range []struct {
		name, in string
		most     answer // as which all is Body, and as what is less of one, too
	}{
		{"all quoted", many, byFields},
		{"few words above", "hi there\n" + many, noAnswer},
		{"few words above colons", "hi there\n" + strings.ReplaceAll(many, ">", ":"), noAnswer},
		{"few words above no marks", "hi there\nOn Monday 10:30 Bob wrote:\n" + strings.ReplaceAll(many, "> ", ""), bySubject},
		{"few words above, introduced", "+1\nOn Monday, Bob wrote:\n" + many, noAnswer},
		{"nothing above, introduced", "On Monday, Bob wrote:\n" + many, byFields},
		{"few words above what is passed on", "hi there\n-----Original Message-----\nFrom: Bob\nSubject: x\n\n" + strings.Repeat("so many words\n", 50), never},
		{"few words above a header of many", "hi there\n-----Original Message-----\nFrom: Bob\nTo: " + strings.Repeat("many@x.example\n", 37) + "Subject: x\n", bySubject},
		{"nothing above a header of many", "-----Original Message-----\nFrom: Bob\nTo: " + strings.Repeat("many@x.example\n", 37) + "Subject: x\n", byFields},
		{"a line above, introduced", "I do not think so at all\nOn Monday, Bob wrote:\n" + many, noAnswer},
		{"a line above", "I do not think so at all\n" + many, noAnswer},
		{"twelve words above a long quote", strings.Repeat("word ", 12) + "\n" + many + many, noAnswer},
		{"a fair share above", strings.Repeat("word ", 40) + "\n" + many, never},
		{"all below a signature mark", "Hello\n-- \n" + strings.Repeat("one two three four\n", 12), byFields},
		{"all below a rule", "Hello\n____________\nto unsubscribe\n" + strings.Repeat("one two three four\n", 12), byFields},
		{"thanks and notice", "Thanks!\n\n" + legalNotice, never},
		{"thanks and much behind few words of a notice", "Thanks!\n\n" + legalNotice + strings.Repeat("one two three four five six seven eight nine ten\n", 10), byFields},
		{"thanks and half a notice", "Thanks!\n\n" + strings.Repeat("This is confidential; notify the sender of errors, and delete it.\n", 4), byFields},
		{"thanks and a notice of few words", "Thanks!\n\n" + strings.Repeat("This is confidential and privileged; notify the sender of errors, and delete it.\n", 4), never},
		{"thanks and footer", "Thanks!\n______________\nX mailing list\nX@lists.example\n", never},
	} {
		for how := noAnswer; how <= byFields; how++ {
			all := true
			for _, b := range settleKinds(cutBlocks(c.in), how) {
				all = all && b.Kind == Body
			}
			if all != (how <= c.most) {
				t.Errorf("%s, answer %d: all is Body: %v", c.name, how, all)
			}
		}
	}
}

// TestPassedOn: what a few words pass on is what a message says, but for the header that it has there.
func TestPassedOn(t *testing.T) {
	blocks := settleKinds(cutBlocks("fyi\n-----Original Message-----\nFrom: Bob\nTo: Ann\n\n"+strings.Repeat("so many words\n", 14)+"From: Ann\nTo: Bob\nSubject: x\n\nwhat\n"), bySubject)
	if got := letters(blocks); got != "B"+"HHHH"+strings.Repeat("B", 14)+"HHHH"+"B" {
		t.Error(got)
	}
}

// TestQuotedFooters: where a quote is what a message says, the list's footer in it is not, unless there is nothing else.
func TestQuotedFooters(t *testing.T) {
	const footer = "> ______________\n> X mailing list\n> X@lists.example\n"
	for _, c := range []struct{ name, in, want string }{
		{"footer of a list", "thanks\n" + strings.Repeat("> so many words\n", 14) + footer, strings.Repeat("B", 15) + "FFF"},
		{"opened footer", "thanks\n" + strings.Repeat("> so many words\n", 14) + ">\n> To unsubscribe, write to X\n", strings.Repeat("B", 16) + "F"},
		{"footer above the rest", "thanks\n" + footer + strings.Repeat("> so many words\n", 12), strings.Repeat("B", 16)},
		{"all of it a footer", "thanks\n> ______________\n> to unsubscribe\n" + strings.Repeat("> so many words\n", 13), strings.Repeat("B", 16)},
		{"quote that stays one", strings.Repeat("word ", 12) + "\n" + strings.Repeat("> so many words\n", 14) + footer, "B" + strings.Repeat("Q", 17)},
	} {
		if got := letters(settleKinds(cutBlocks(c.in), noAnswer)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func FuzzCutBlocks(f *testing.F) {
	for _, s := range []string{"a\n> b\n-- \nc\n", "On x, y wrote:\n\n: b\n: c\n", "a\n__________\nx mailing list\n", "-----BEGIN PGP SIGNATURE-----\nab\n-----END PGP SIGNATURE-----",
		"a\n" + legalNotice, "a\nRegards\nb\n> c\n", "a\n--- Forwarded by b\nc ---\n\nd on 01/02/2003 10:00 AM\nTo: e\ncc:\nSubject: f\n\ng\n",
		"+1\nOn Monday, a wrote:\n" + strings.Repeat("> b c d e\n", 12), "a\n> ____________________x mailing list\n" + strings.Repeat("> b c d e\n", 12)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var all strings.Builder
		blocks := cutBlocks(s)
		for i, b := range blocks {
			all.WriteString(b.Text)
			if i > 0 && blocks[i-1].Kind == b.Kind {
				t.Errorf("blocks %d and %d of %q are of one kind", i-1, i, s)
			}
		}
		if all.String() != s && strings.TrimSpace(s) != "" {
			t.Errorf("blocks of %q join to %q", s, all.String())
		}
		for how := noAnswer; how <= byFields; how++ {
			checkHidden(t, s, settleKinds(slices.Clone(blocks), how), how)
		}
	})
}

// checkHidden fails where a text that is worth it is no Body though there is too little of that.
func checkHidden(t *testing.T, s string, blocks []Block, how answer) {
	t.Helper()
	var n [Head + 1]int
	for _, b := range blocks {
		if words := countWords(b.Text, len(s)); b.Kind != Footer || !plainly(b.Text) {
			n[b.Kind] += words
		} else if words > perLegal*len(legal[0]) {
			t.Errorf("%q hides %d words in a legal notice", s, words)
		}
	}
	quoted := n[Body] == 0 || n[Body] < 5 && how != byFields && !marked(blocks) || n[Body] < fewWords && how == noAnswer
	apart := max(n[Signature], n[Footer])
	if how != byFields || n[Body] == 0 {
		apart = max(apart, n[Head])
	}
	if n[Quote] >= worthHiding && quoted || apart >= worthHiding && n[Body] < fewWords {
		t.Errorf("%q, answer %d, hides: words by kind %v", s, how, n)
	}
}
