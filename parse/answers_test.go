package parse

import (
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	for head, want := range map[string]answer{
		"Subject: Re: a\n":                        bySubject,
		"Subject: RE[2]: a\n":                     bySubject,
		"Subject: Antwort: a\n":                   bySubject,
		"Subject: [list] [sub] Fwd: a\n":          bySubject,
		"Subject: =?utf-8?B?5Zue5aSN77yaYQ==?=\n": bySubject,
		"Subject: a\nin-reply-to: <a@b>\n":        byFields,
		"References: <a@b>\n":                     byFields,
		"Subject: \n":                             noAnswer,
		"Subject: a\nThread-Index: ASgpKissLS4vMDEyMzQ1\n\tNjc4OTo7PD0+P0BB\n": byFields,
		"Subject: a\nThread-Index: ASgpKissLS4vMDEyMzQ1Njc4OTo7PA==\n":         noAnswer,
		"Subject: a\nThread-Index: ASgpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0A=\n":     noAnswer,
		"Subject: a\nThread-Index: BSgpKissLS4vMDEyMzQ1Njc4OTo7PD0+P0BB\n":     noAnswer,
		"Subject: a re: b\nX-References: a\n":                                  noAnswer,
		"Subject: : a\n":                                                       noAnswer,
		"Subject: Re a\n":                                                      noAnswer,
		"Subject: [re: a\n":                                                    noAnswer,
		"Subject: Congratulations: a\n":                                        noAnswer,
		"Subject: $$$: a\n":                                                    noAnswer,
	} {
		if got := answers(Parse([]byte(head+"\nbody\n"), Limits{})); got != want {
			t.Errorf("%q: %v, want %v", head, got, want)
		}
	}
}

// TestPassedOffAsQuote: a few words above what the header of another message introduces are all of a reply, and not of a message
// that does not say that it is one.
func TestPassedOffAsQuote(t *testing.T) {
	body := "\nHello dear friend, read this now\n\nFrom: Bob\nDate: Monday\nSubject: x\n\n" + strings.Repeat("so many words\n", 50)
	for head, all := range map[string]bool{"Subject: x\n": true, "Subject: Re: x\n": false, "References: <a@b>\n": false} {
		text := Parse([]byte(head+body), Limits{}).Text()
		if !strings.Contains(text, "dear friend") || strings.Contains(text, "so many words") != all {
			t.Errorf("%q: of the text is left %q", head, text)
		}
	}
}

// TestPassedOffInHTML: what follows the header that Outlook on the web puts above a quote is one in an answer alone.
func TestPassedOffInHTML(t *testing.T) {
	body := "Content-Type: text/html\n\n<p>" + strings.Repeat("Hello dear friend ", 20) + "</p><div id=divRplyFwdMsg></div>" + strings.Repeat("so many words ", 50)
	for head, all := range map[string]bool{"Subject: x\n": true, "Subject: Re: x\n": false} {
		if text := Parse([]byte(head+body), Limits{}).Text(); strings.Contains(text, "so many words") != all {
			t.Errorf("%q: of the text is left %q", head, text)
		}
	}
}
