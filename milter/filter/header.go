package filter

import (
	"fmt"
	"slices"
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
	parts := []string{v.Kind.String()}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if v.Reason != "" {
		add("reason=%s", v.Reason)
	}
	if v.Kind == Exempt {
		add("would=%s", v.Would)
	}
	if v.Judged && v.Kind != Exempt {
		add("sigma=%.1f", v.Sigma)
		add("threshold=%.1f", v.Threshold)
	}
	if v.Cluster != "" && v.Kind != Exempt {
		add("nilsimsa=%d", v.Nilsimsa)
		add("simhash=%d", v.SimHash)
		add("cluster=%s", v.Cluster)
		add("copies=%d", v.Copies)
		add("senders=%s", countWord(v.Senders))
		add("nets=%s", countWord(v.Nets))
		add("rcpts=%s", countWord(v.Recipients))
		add("label=%s", v.Label)
	}
	add("id=%s", id)
	if v.Seal != "" {
		add("mac=%s", v.Seal)
	}
	return fold(parts)
}

// countWord marks a number that is not exact.
func countWord(c Count) string {
	if c.Approx {
		return fmt.Sprintf("~%d", c.N)
	}
	return fmt.Sprint(c.N)
}

// fold joins the parts with "; ", breaking lines with LF TAB before they grow over lineLength.
func fold(parts []string) string {
	var b strings.Builder
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
