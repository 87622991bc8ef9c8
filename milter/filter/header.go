package filter

import (
	"slices"
	"strconv"
	"strings"
)

// HeaderName is the name of the field that carries a verdict.
const HeaderName = "X-Spamsim"

// RedirectName is the name of the field that tells the MTA to send a message somewhere else. One that came with a message is
// always removed: else a stranger could send mail of others anywhere.
const RedirectName = "X-Spamsim-Redirect"

// WithRedirect adds the field that tells the MTA to send a message to an address.
func (j Judgement) WithRedirect(address string) Judgement {
	j.Add = append(slices.Clip(j.Add), Field{RedirectName, " " + address})
	return j
}

// lineLength is the most characters of a line of the field (RFC 5322 section 2.1.1).
const lineLength = 78

// judgement makes the judgement that carries a verdict: its field, and the removal of every other of that name, and of those that redirect.
func (v *Verdict) judgement(id string) Judgement {
	return Judgement{Verdict: *v, Add: []Field{{HeaderName, v.Field(id)}}, Strip: []string{HeaderName, RedirectName}}
}

// Pass is the judgement of a message that is not judged, by a host called id.
func Pass(id string, k Kind, reason string) Judgement {
	v := Verdict{Kind: k, Reason: reason}
	return v.judgement(id)
}

// Field returns the value of the header field: a space, then the verdict and what it rests on, folded with LF TAB. It is
// ASCII and holds nothing of the message.
func (v *Verdict) Field(id string) string {
	parts := append(make([]string, 0, 16), v.Kind.String())
	add := func(name, value string) { parts = append(parts, name+"="+value) }
	if v.Reason != "" {
		add("reason", v.Reason)
	}
	if v.Kind == Exempt {
		add("would", v.Would.String())
	}
	if v.Judged && v.Kind != Exempt {
		add("sigma", strconv.FormatFloat(v.Sigma, 'f', 1, 64))
		add("threshold", strconv.FormatFloat(v.Threshold, 'f', 1, 64))
	}
	if v.Cluster != "" && v.Kind != Exempt {
		add("nilsimsa", strconv.Itoa(v.Nilsimsa))
		add("simhash", strconv.Itoa(v.SimHash))
		add("cluster", v.Cluster)
		add("copies", strconv.Itoa(v.Copies))
		add("senders", countWord(v.Senders))
		add("nets", countWord(v.Nets))
		add("rcpts", countWord(v.Recipients))
		add("label", v.Label.String())
	}
	add("id", id)
	if v.Seal != "" {
		add("mac", v.Seal)
	}
	return fold(parts)
}

// countWord marks a number that is not exact.
func countWord(c Count) string {
	if c.Approx {
		return "~" + strconv.Itoa(c.N)
	}
	return strconv.Itoa(c.N)
}

// fold joins the parts with "; ", breaking lines with LF TAB before they grow over lineLength.
func fold(parts []string) string {
	var b strings.Builder
	b.Grow(4 * lineLength)
	column := len(HeaderName) + 1
	for i, p := range parts {
		end := ";"
		if i == len(parts)-1 {
			end = ""
		}
		if i > 0 && column+1+len(p)+len(end) > lineLength {
			b.WriteString("\n\t")
			column = 1
		} else {
			b.WriteByte(' ')
			column++
		}
		b.WriteString(p)
		b.WriteString(end)
		column += len(p) + len(end)
	}
	return b.String()
}
