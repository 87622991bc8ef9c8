package filter

import (
	"strings"
	"testing"
)

func TestMessageID(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for raw, want := range map[string]string{
		"": "", "\r\nMessage-ID: <body@x>\r\n": "", "Subject: x\r\n\r\nMessage-ID: <body@x>\r\n": "",
		"Subject: x\r\nMessage-ID: <a.b@x>\r\n\r\nbody": "a.b@x",
		"message-id:<a@x>\nMessage-ID: <second@x>\n\n":  "a@x",
		"Message-ID:\r\n <folded@x>\r\n\r\n":            "folded@x",
		"Message-ID:\r\nTo: <b@x>\r\n\r\n":              "",
		"Message-ID: <ü\x1b\x00@x>":                     "???@x",
		"X: y\r\n Message-ID: <fold@x>\r\n\r\n":         "",
		"Message-Id: " + long + "\r\n\r\n":              long[:maxMessageID],
		"Message-ID: <>\r\n\r\n":                        "",
		"Message-ID: a <b> c\r\n\r\n":                   "a <b> c",
		"From a@x Thu Jan  1\nMessage-ID: <m@x>\n\n":    "m@x",
	} {
		if got := MessageID([]byte(raw)); got != want {
			t.Errorf("%.60q: %.300q, want %.300q", raw, got, want)
		}
	}
}
