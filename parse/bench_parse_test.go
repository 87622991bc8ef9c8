package parse

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

const benchHeader = `Return-Path: <ann@example.org>
Received: from mail.example.org (mail.example.org [192.0.2.7])
	by mx.example.net (Postfix) with ESMTPS id 4XyZ1234567
	for <bob@example.net>; Mon, 5 Jan 2026 10:11:12 +0100 (CET)
Received: from [198.51.100.4] by mail.example.org with ESMTPSA; Mon, 5 Jan 2026 10:11:10 +0100
From: Ann Example <ann@example.org>
To: Bob <bob@example.net>
Subject: =?utf-8?q?The_roof_of_the_caf=C3=A9?=
Date: Mon, 5 Jan 2026 10:11:09 +0100
Message-ID: <20260105091109.4711@example.org>
MIME-Version: 1.0
User-Agent: Mailer 1.0
X-Priority: 3
`

// ordinary returns mail as most of it is: n messages, of them a third plain, a third plain and HTML, the rest
// with an attachment, encoded or not. Its words are drawn by chance, the same for every run.
func ordinary(n int) (all [][]byte, size int) {
	r := rand.New(rand.NewPCG(7, 7))
	words := strings.Fields(`the roof of old boat house will be mended before winter; two offers have come in, and cheaper
		one also covers gutters. Please let us know by Friday whether you can lend a hand with clearing it.`)
	for i := range n {
		var b strings.Builder
		for range 300 {
			b.WriteString(words[r.IntN(len(words))])
			b.WriteByte(" \n"[min(r.IntN(10)/9, 1)])
		}
		text := b.String()
		html := "<html><head><style>p { color: #333 }</style></head><body>\n<p style=3D\"margin: 0\">" +
			strings.ReplaceAll(text, "\n", "</p>\n<p style=3D\"margin: 0\"><a href=3D\"http://example.org/\">more</a> ") + "</p></body></html>"
		file := base64.StdEncoding.EncodeToString([]byte(text + text + text))
		var parts string
		switch i % 3 {
		case 0:
			parts = "Content-Type: text/plain; charset=utf-8\n\n" + text
		case 1:
			parts = multipart("alternative", "b1", "Content-Type: text/plain; charset=utf-8\n\n"+text,
				"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"+html)
		case 2:
			parts = multipart("mixed", "b2", "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"+
				wrap(base64.StdEncoding.EncodeToString([]byte(text))),
				"Content-Type: application/pdf; name=a.pdf\nContent-Transfer-Encoding: base64\n\n"+wrap(file))
		}
		raw := []byte(strings.ReplaceAll(benchHeader+parts, "\n", "\r\n"))
		all, size = append(all, raw), size+len(raw)
	}
	return all, size
}

// newsletter is a mail as those who send many write them: nested tables, a style for each cell, more markup than text, quoted-printable.
func newsletter(items int) []byte {
	r := rand.New(rand.NewPCG(8, 8))
	words := strings.Fields("spring offer of fine garden tools and seeds for every bed this week only while stocks last, free delivery from our nursery")
	var b strings.Builder
	b.WriteString(`<html><head><title>News</title><style type=3D"text/css">.x { color: #333333; font-size: 12px } td { padding: 4px }</style></head>` +
		`<body bgcolor=3D"#ffffff"><table width=3D"600" cellpadding=3D"0" cellspacing=3D"0" border=3D"0" align=3D"center">` + "\n")
	for i := range items {
		fmt.Fprintf(&b, `<tr><td width=3D"120" valign=3D"top"><a href=3D"http://news.example/i/%d" target=3D"_blank"><img src=3D"http://news.example/p/%d.gif" width=3D"100" height=3D"80" border=3D"0" alt=3D""></a></td>`+"\n"+
			`<td class=3D"x" valign=3D"top" style=3D"font-family: Arial, sans-serif; font-size: 12px; color: #333333"><b>`, i, i)
		for range 25 {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		b.WriteString("</b><br>&nbsp;</td></tr>\n")
	}
	b.WriteString("</table></body></html>")
	return []byte(strings.ReplaceAll(benchHeader+"Content-Type: text/html; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n"+b.String(), "\n", "\r\n"))
}

// wrap breaks base64 into lines of 76.
func wrap(s string) string {
	var b strings.Builder
	for ; len(s) > 76; s = s[76:] {
		fmt.Fprintln(&b, s[:76])
	}
	return b.String() + s
}

func TestOrdinary(t *testing.T) {
	all, _ := ordinary(6)
	for i, raw := range all {
		m := Parse(raw, Limits{})
		if n := len(strings.Fields(text(m))); n < 300 || len(m.Defects) > 0 || m.Subject != "The roof of the café" {
			t.Errorf("%d: %d words, %v", i, n, m.Defects)
		}
	}
}

// BenchmarkParse has the mixture, and each of its kinds, parsed and folded; and a newsletter, which is the slowest mail of all
// that is ordinary.
func BenchmarkParse(b *testing.B) {
	all, _ := ordinary(90)
	for k, name := range []string{"plain", "html", "attachment", "all"} {
		b.Run(name, func(b *testing.B) {
			size := 0
			var some [][]byte
			for i, raw := range all {
				if i%3 == k || k == 3 {
					some, size = append(some, raw), size+len(raw)
				}
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, raw := range some {
					Parse(raw, Limits{}).Text()
				}
			}
		})
	}
	b.Run("newsletter", func(b *testing.B) {
		raw := newsletter(30)
		b.SetBytes(int64(len(raw)))
		b.ReportAllocs()
		for b.Loop() {
			Parse(raw, Limits{}).Text()
		}
	})
}
