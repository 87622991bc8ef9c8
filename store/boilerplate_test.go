package store

import (
	"slices"
	"strings"
	"testing"

	"spamsim/parse"
)

// own is ownWords, and that the hashes are still those of the words.
func own(words []string) []string {
	words, hashes := ownWords(words, wordHashes(nil, words))
	if !slices.Equal(hashes, wordHashes(nil, words)) {
		return []string{"hashes of other words"}
	}
	return words
}

func TestOwnWords(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"one":                    "one",
		"please send mail to me": "please send mail to me",
		"for further assistance please send mail to postmaster":                      "",
		"own before for further assistance please send mail to postmaster own after": "own before own after",
		"first sorry to have to inform you that your last":                           "first last",
	} {
		if got := own(parse.AppendTokens(nil, parse.Fold(in))); !slices.Equal(got, parse.AppendTokens(nil, parse.Fold(want))) {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	w := newWriter(80)
	words := w.text(3000)
	if got := own(slices.Clone(words)); len(got) != len(words) {
		t.Errorf("%d of %d words of another text are left", len(got), len(words))
	}
}

// TestNoticesAreNoCampaign: what programs write for many people makes no copies, the same words of a person do.
func TestNoticesAreNoCampaign(t *testing.T) {
	for name, notice := range map[string]string{
		"bounce": "This is the mail system at host mx%.example.\n\nI'm sorry to have to inform you that your message could not\nbe delivered to one or more recipients. It's attached below.\n\nFor further assistance, please send mail to postmaster.\n\nIf you do so, please include this problem report. You can\ndelete your own text from the attached returned message.\n\n<u%@a%.example>: host mx.a%.example[192.0.2.%] said: 550 5.1.1\n <u%@a%.example>: Recipient address rejected: User unknown in virtual mailbox table (in reply to RCPT TO command)",
		"office": "Your message to u%@a%.example couldn't be delivered.\nu% wasn't found at a%.example.\n\nUnknown To address\n\nHow to Fix It\nThe address may be misspelled or may not exist. Try one or more of the following:\nSend the message again following these steps: In Outlook, open this non-delivery report (NDR) and choose Send Again from the Report ribbon. Then delete and retype the entire recipient address. If prompted with an Auto-Complete List suggestion don't select it. After typing the complete address, click Send.",
		"zoom":   "u% is inviting you to a scheduled Zoom meeting.\n\nJoin Zoom Meeting\nhttps://zoom.example/j/%?pwd=%\n\nMeeting ID: 8% 12%\nPasscode: a%\n\nDial by your location\n        +1 301 715 8592 US (Washington DC)\n        +1 312 626 6799 US (Chicago)\n        +1 646 876 9923 US (New York)\n        +1 253 215 8782 US (Tacoma)\nFind your local number: https://zoom.example/u/%",
		"read":   "This is a Return Receipt for the mail that you sent to u%@a%.example.\n\nNote: This Return Receipt only acknowledges that the message was displayed on the recipient's computer. There is no guarantee that the recipient has read or understood the message contents.",
	} {
		s := scratchStore(t)
		w := newWriter(81)
		for n := range 8 {
			text := strings.ReplaceAll(notice, "%", string(rune('a'+n)))
			raw := "Subject: x\r\n\r\n" + strings.ReplaceAll(text, "\n", "\r\n") + "\r\n\r\n" + strings.Join(w.text(60), " ") + "\r\n"
			if ev := s.Count(NewTrace(parse.Parse([]byte(raw), parse.Limits{})), from(n)); ev.Member && ev.Copies >= 5 {
				t.Errorf("%s %d: %+v", name, n, ev)
			}
		}
	}
}
