package parse

import (
	"strings"
	"testing"
)

func TestCalendarText(t *testing.T) {
	for in, want := range map[string]string{
		"BEGIN:VCALENDAR\nPRODID:-//X//Y//EN\nSUMMARY:Meet\\, all\nEND:VCALENDAR\n":             "Meet, all\n",
		"BEGIN:VCALENDAR\nDESCRIPTION;ALTREP=\"cid:a;b\":One li\n ne\\nand\\\\ another\n":       "One line\nand\\ another\n",
		"\ufeffBEGIN:VCALENDAR\nlocation;LANGUAGE=de:Raum\\; 2\nATTENDEE;CN=\"A:B\":mailto:x\n": "Raum; 2\n",
		"BEGIN:VCALENDAR\nUID:1\n":      "",
		"a mail in the wrong type: yes": "a mail in the wrong type: yes",
	} {
		if got := calendarText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestCalendarIsItsText: what programs write around it is no text of the message.
func TestCalendarIsItsText(t *testing.T) {
	m := Parse([]byte("Content-Type: text/calendar; method=REPLY\r\n\r\nBEGIN:VCALENDAR\r\nMETHOD:REPLY\r\nSUMMARY:Budget talk\r\nEND:VCALENDAR\r\n"), Limits{})
	if text := m.Text(); !strings.Contains(text, "budget talk") || strings.Contains(text, "method") {
		t.Errorf("%q", text)
	}
}

// TestReportIsAFooter: the fields of a bounce are no words of its author.
func TestReportIsAFooter(t *testing.T) {
	status := "--B\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.example\r\n\r\nFinal-Recipient: rfc822; u@a.example\r\nAction: failed\r\nStatus: 5.1.1\r\n"
	said := "--B\r\n\r\nThe message that you sent to somebody at example could not be delivered, since there is nobody of that name there, and we are sorry for that.\r\n"
	raw := "Content-Type: multipart/report; report-type=delivery-status; boundary=B\r\n\r\n"
	header := "--B\r\nContent-Type: text/rfc822-headers\r\n\r\nReceived: from relay.example by mx.example\r\nSubject: pears\r\n"
	both, alone := Parse([]byte(raw+said+status+header+"--B--\r\n"), Limits{}), Parse([]byte(raw+status+"--B--\r\n"), Limits{})
	if text := both.Text(); strings.Contains(text, "reporting") || strings.Contains(text, "relay") || !strings.Contains(text, "nobody of that name") {
		t.Errorf("%q", text)
	}
	if len(alone.Blocks) != 1 || alone.Blocks[0].Kind != Footer || !strings.Contains(alone.Blocks[0].Text, "Reporting") {
		t.Errorf("%+v", alone.Blocks)
	}
}

// TestCalendarFile: an invitation that is a file is read as one that is a part.
func TestCalendarFile(t *testing.T) {
	const object = "BEGIN:VCALENDAR\nPRODID:-//Google Inc//Google Calendar 70.9054//EN\nBEGIN:VEVENT\nSUMMARY:Pears\nEND:VEVENT\nEND:VCALENDAR\n"
	for _, typ := range []string{"application/ics", "application/octet-stream; name=Invite.ICS"} {
		m := Parse([]byte("Content-Type: "+typ+"\nContent-Disposition: attachment\n\n"+object), Limits{})
		if m.Text() != "pears" || len(m.Attachments) != 0 {
			t.Errorf("%s: %q, %d attachments", typ, m.Text(), len(m.Attachments))
		}
	}
}
