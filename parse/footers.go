package parse

import "strings"

// Bounds of what can be a signature or a footer: a campaign does not fit in.
const (
	maxTailLines = 15   // lines that are not empty
	maxTailBytes = 1000 // octets
	maxFooters   = 4    // footers, each below the other
)

// markSignatures marks signatures: a line "-- " or "--" and what is below it, up to the end or to a
// quote or footer, if it is within the bounds.
func markSignatures(lines []line) {
	for i := range lines {
		if s := lines[i].text; lines[i].kind != Body || s != "--" && s != "- --" {
			continue
		}
		if end := signatureEnd(lines, i); end > 0 {
			mark(lines[i:end], Signature)
		}
	}
}

func mark(lines []line, k Kind) {
	for i := range lines {
		lines[i].kind = k
	}
}

// signatureEnd is the index after the signature that begins at line i, 0 where what follows is too long for one.
func signatureEnd(lines []line, i int) int {
	for n, size := 0, 0; i < len(lines) && (lines[i].kind == Body || lines[i].text == ""); i++ {
		if lines[i].text != "" {
			n++
			size += len(lines[i].text)
		}
		if n > maxTailLines || size > maxTailBytes {
			return 0
		}
	}
	return i
}

// markArmour marks armoured signatures and keys (RFC 4880, section 6.2; 7.1): the line that begins a signed
// message with its "Hash:" lines, and whole blocks of lines without spaces.
func markArmour(lines []line) {
	for i := 0; i < len(lines); i++ {
		s := lines[i].text
		if len(s) < 20 || s[0] != '-' || !strings.HasPrefix(s, "-----BEGIN PGP ") || lines[i].kind != Body {
			continue
		}
		if s == "-----BEGIN PGP SIGNED MESSAGE-----" {
			lines[i].kind = Signature
			for j := i + 1; j < len(lines) && j < i+4 && strings.HasPrefix(lines[j].text, "Hash:"); j++ {
				lines[j].kind = Signature
			}
			continue
		}
		if end := armourEnd(lines, i+1); end > 0 {
			mark(lines[i:end], Signature)
			i = end - 1
		}
	}
}

// armourEnd is the index after the "END PGP" line of a block that goes on at i, 0 where it is no
// block: its lines are armour headers or have no spaces.
func armourEnd(lines []line, i int) int {
	for headers := 0; i < len(lines); i++ {
		s := lines[i].text
		if strings.HasPrefix(s, "-----END PGP ") {
			return i + 1
		}
		if !strings.Contains(s, " ") && len(s) <= 76 {
			continue
		}
		if headers++; headers > 4 || len(s) > 100 || !strings.Contains(s, ": ") {
			return 0
		}
	}
	return 0
}

// ruled are the words one of which stands in the first three lines below a rule where a list or mail
// provider has put a footer. Where an address alone stands there it is a footer, or the signature of
// one who draws a rule above it, if it is small and narrow.
var ruled = []string{"mailing list", "mailman", "unsubscribe", "listinfo", "archive", "sponsor", "subscri", "list maintainer", "yahoo!", "hotmail", "msn ",
	"free e-mail", "free email", "additional commands", "get your free", "webmail", "virus", "scanned by", "confidential", "intended recipient",
	"bcentral", "lycos", "excite", "freenet", "to be removed", "退订", "退訂", "免费邮箱", "网易", "@yahoo"}

// openings are how footers begin that no rule precedes.
var openings = []string{"to unsubscribe", "irish linux users' group", "you have received this message because you subscribed", "do you yahoo!?",
	"this sf.net email is sponsored by", "get your free", "get free e-mail", "join the world", "send and receive hotmail", "msn photos",
	"chat with friends online", "your use of yahoo! groups", "to subscribe or unsubscribe", "you are receiving this mail because", "sign up for",
	"confidentiality notice", "this e-mail and any", "this email and any", "this e-mail is confidential", "this email is confidential",
	"this message is confidential", "this e-mail is intended", "this email is intended", "this message is intended", "the information contained in this",
	"the information in this e", "disclaimer:", "for additional commands", "this message was sent using", "you received this message because you are subscribed"}

// markFooters marks footers from the end of the text upwards: below a rule that is followed by the
// words of one, or from a line that begins as one or a legal notice; each within the bounds. An advertisement of
// Yahoo! Groups, which has marks of its own at both ends, is a footer anywhere.
func markFooters(lines []line) {
	markGroups(lines)
	cut := len(lines)
	for range maxFooters {
		next := footerAbove(lines, cut)
		if next < 0 {
			return
		}
		mark(lines[next:cut], Footer)
		for cut = next; cut > 0 && (lines[cut-1].text == "" || lines[cut-1].text == "--"); cut-- {
			lines[cut-1].kind = Footer // some lists put a signature mark above their footer
		}
	}
}

// footerAbove is the line where a footer begins that ends above line cut, -1 where there is none.
func footerAbove(lines []line, cut int) int {
	n, size, best, said := 0, 0, -1, notice{}
	for i := cut - 1; i >= 0; i-- {
		s := lines[i].text
		if s == "" {
			continue
		}
		n++
		size += len(s)
		if lines[i].kind != Body || s == "--" || n > maxTailLines+1 || size > maxTailBytes {
			return best
		}
		if rule(s) && heads(lines[i+1:cut], n) || glued(s) {
			return i
		}
		if notes := said.begins(s, n); notes || opens(s) {
			best = i
		}
	}
	return best
}

// heads tells whether a rule heads a footer of n lines, of which below are those under the rule: by
// the words of one in the first three of them, or an address there if all looks like a signature.
func heads(below []line, n int) bool {
	address := false
	for i, left := 0, 3; i < len(below) && left > 0; i++ {
		if below[i].text == "" {
			continue
		}
		left--
		low := strings.ToLower(below[i].text)
		if hasAny(low, ruled) {
			return true
		}
		address = address || strings.Contains(low, "http") || strings.Contains(low, "www.") || strings.Contains(low, "@")
	}
	return address && n <= 8 && narrow(below)
}

// glued tells whether a line is a rule and the footer that it heads in one: where base64 text has lines that end in LF alone, sendmail
// drops their ends as it makes 8bit of it.
func glued(s string) bool {
	text := strings.TrimLeft(s, "_")
	return len(s)-len(text) >= 20 && hasAny(strings.ToLower(text), ruled)
}

// narrow tells whether lines are as narrow as those of a signature, and all together at most 400 octets.
func narrow(lines []line) bool {
	size := 0
	for _, l := range lines {
		if size += len(l.text); len(l.text) > 80 || size > 400 || strings.HasPrefix(l.text, "---") && !rule(l.text) {
			return false
		}
	}
	return true
}

// opens tells whether a line begins a footer: with the words of one, or it is the address of a list's
// page and nothing else.
func opens(s string) bool {
	s = strings.TrimLeft(s, "-*= ")
	for _, o := range openings {
		if prefixFold(s, o) {
			return true
		}
	}
	return prefixFold(s, "http") && !strings.Contains(s, " ") && strings.Contains(s, "/listinfo/")
}

// rule tells whether a line is drawn: ten or more of "_-=*~#+", nothing else but spaces, and not the
// border of a box ("+------+").
func rule(s string) bool {
	if strings.HasPrefix(s, "+-") {
		return false
	}
	n := 0
	for i := range len(s) {
		switch s[i] {
		case '_', '-', '=', '*', '~', '#', '+':
			n++
		case ' ', '>':
		default:
			return false
		}
	}
	return n >= 10
}

// markGroups marks the advertisements of Yahoo! Groups: from "--- Yahoo! Groups Sponsor ---~-->" to
// "---~->", at most maxTailLines lines.
func markGroups(lines []line) {
	for i := range lines {
		if s := lines[i].text; !strings.HasPrefix(s, "---") || !strings.Contains(s, " Yahoo! Groups ") || !strings.HasSuffix(s, "-->") {
			continue
		}
		for j := i + 1; j < len(lines) && j <= i+maxTailLines; j++ {
			if s := lines[j].text; rule(s) && strings.HasSuffix(s, "->") {
				mark(lines[i:j+1], Footer)
				break
			}
		}
	}
}
