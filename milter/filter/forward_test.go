package filter

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestForwards: what one person passes on to the same people every day is unlike, but for the header that mail programs put above it.
func TestForwards(t *testing.T) {
	for _, c := range []struct{ name, head, person, comma string }{
		{"Notes", "---------------------- Forwarded by Ann Whitfield/Harbour/Coastal on 06/06/2026\r\n09:25 AM ----------------------\r\n\r\n" +
			"\"Bob Lindqvist\" <bob.lindqvist@quarry.example> on 06/06/2026 09:22:57 AM\r\nPlease respond to <bob.lindqvist@quarry.example>\r\n" +
			"To: %[2]s\r\ncc:\r\nSubject: %[1]s\r\n", "%s %s/Harbour/Coastal@Coastal", ",\r\n\t"},
		{"Outlook", "From: Bob Lindqvist <bob.lindqvist@quarry.example>\r\nSent: Saturday, June 6, 2026 9:22 AM\r\nTo: %[2]s\r\nSubject: %[1]s\r\n",
			"%s %s <%[1]s@harbour.example>", "; "},
		{"Gmail", "---------- Forwarded message ---------\r\nFrom: Bob Lindqvist <bob.lindqvist@quarry.example>\r\nDate: Sat, 6 Jun 2026 at 09:22\r\n" +
			"Subject: %[1]s\r\nTo: %[2]s\r\n", "%s %s <%[1]s@harbour.example>", ", "},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, l := newFilter(t), newLanguage()
			people := make([]string, 10)
			for i := range people {
				people[i] = fmt.Sprintf(c.person, l.word(), l.word())
			}
			head := fmt.Sprintf(c.head, "revised volumes", strings.Join(people, c.comma))
			for n := range 20 {
				raw := fmt.Sprintf("From: Ann Whitfield <ann@harbour.example>\r\nMessage-ID: <f%d@harbour.example>\r\nSubject: Fwd: revised volumes\r\n\r\n%s\r\n%s\r\n",
					n, head, strings.Join(l.text(25), " "))
				env := &Envelope{Sender: "ann@harbour.example", Recipients: []string{fmt.Sprintf("r%d@site.example", n%3)}, Time: time.Unix(1e9+int64(n), 0)}
				if v := f.Check(context.Background(), env, []byte(raw)).Verdict; v.Kind != Clean {
					t.Errorf("forward %d: %+v", n, v)
				}
			}
		})
	}
}

// TestAnswersWithoutMarks: programs of Yahoo, Zoho and telephones put no marks before what they quote; all who answer one letter
// have it in common.
func TestAnswersWithoutMarks(t *testing.T) {
	for _, line := range []string{
		"On Saturday, June 6, 2026 9:22 AM, Bob Lindqvist <bob.lindqvist@quarry.example> wrote:",
		"---- On Sat, 06 Jun 2026 09:22:36 +0200 Bob Lindqvist <bob.lindqvist@quarry.example> wrote ----",
		"Bob Lindqvist <bob.lindqvist@quarry.example> schrieb:",
	} {
		f, l := newFilter(t), newLanguage()
		letter := strings.Join(l.text(60), " ")
		for n := range 20 {
			raw := fmt.Sprintf("From: p%d@h%[1]d.example\r\nMessage-ID: <a%[1]d@h%[1]d.example>\r\nIn-Reply-To: <l@quarry.example>\r\nSubject: Re: volumes\r\n\r\n%[2]s\r\n\r\n%[3]s\r\n\r\n%[4]s\r\n",
				n, strings.Join(l.text(25), " "), line, letter)
			env := &Envelope{Sender: fmt.Sprintf("p%d@h%[1]d.example", n), Recipients: []string{"bob.lindqvist@quarry.example"}, Time: time.Unix(1e9+int64(n), 0)}
			if v := f.Check(context.Background(), env, []byte(raw)).Verdict; v.Kind != Clean {
				t.Errorf("answer %d below %q: %+v", n, line, v)
			}
		}
	}
}

// TestThanks: a few words above a letter are not that letter, however mail programs quote it: as HTML, they put no marks before it.
func TestThanks(t *testing.T) {
	for _, quote := range []string{
		"On Sat, Jun 6, 2026 at 9:22 AM Bob Lindqvist wrote:<blockquote class=\"gmail_quote\">%s</blockquote>",
		"<blockquote type=\"cite\">%s</blockquote>",
		"<div><b>From:</b> Bob Lindqvist<br><b>Sent:</b> Saturday, June 6, 2026 9:22 AM<br><b>To:</b> " + strings.Repeat("Ann Bird &lt;ann@quarry.example&gt;; ", 20) +
			"<br><b>Subject:</b> volumes</div><p>%s</p>",
	} {
		f, l := newFilter(t), newLanguage()
		letter := strings.Join(l.text(60), " ")
		for n, own := range []string{"Thanks!", "ok", "Will do", "Great, see you", "+1", "Danke", "Fine with me", "Noted", "Got it", "Thank you so much"} {
			raw := fmt.Sprintf("From: p%d@h%[1]d.example\r\nMessage-ID: <a%[1]d@h%[1]d.example>\r\nIn-Reply-To: <l@quarry.example>\r\nSubject: Re: volumes\r\n"+
				"Content-Type: text/html\r\n\r\n<div>%[2]s</div><br>%[3]s\r\n", n, own, fmt.Sprintf(quote, letter))
			env := &Envelope{Sender: fmt.Sprintf("p%d@h%[1]d.example", n), Recipients: []string{"bob.lindqvist@quarry.example"}, Time: time.Unix(1e9+int64(n), 0)}
			if v := f.Check(context.Background(), env, []byte(raw)).Verdict; v.Kind != Abstain {
				t.Errorf("%q above %q: %+v", own, quote, v)
			}
		}
	}
}
