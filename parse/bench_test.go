package parse

import (
	"strings"
	"testing"
)

// minutes is English of ordinary mail, about 600 bytes.
const minutes = `Dear all,

The committee met on Tuesday and agreed on most of the points that were left open in spring. The roof of
the old boat house will be mended before the winter; two offers have come in, and the cheaper one also
covers the gutters. Please let Helen know by Friday whether you can lend a hand with clearing the loft.
Lunch will be provided for everybody who turns up, and there is room for tools and ladders in the shed.

We still need somebody to write the report for the council. It should not take longer than an evening,
since the figures are already in the ledger. See http://club.example/boathouse for pictures.

> Could we also talk about the jetty?

That will have to wait until next month, I am afraid.

Best wishes,
Margaret
`

var benchTexts = []struct{ name, text string }{
	{"english", strings.Repeat(minutes, 8)},
	{"russian", strings.Repeat("Уважаемые коллеги, комитет собрался во вторник и решил почти все вопросы. ", 60)},
	{"chinese", strings.Repeat("委员会星期二开会，解决了春天留下的大部分问题。旧船屋的屋顶将在冬天之前修好。", 60)},
	{"mixed", strings.Repeat("Chéap mеds — fоr yоu, v\u200biаgrа “today” ", 120)},
}

func BenchmarkFold(b *testing.B) {
	for _, c := range benchTexts {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				Fold(c.text)
			}
		})
	}
}

func BenchmarkAppendTokens(b *testing.B) {
	for _, c := range benchTexts {
		b.Run(c.name, func(b *testing.B) {
			s := Fold(c.text)
			b.SetBytes(int64(len(s)))
			b.ReportAllocs()
			var dst []string
			for b.Loop() {
				dst = AppendTokens(dst[:0], s)
			}
		})
	}
}

func BenchmarkCutBlocks(b *testing.B) {
	s := benchTexts[0].text
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		settleKinds(cutBlocks(s), byFields)
	}
}

func BenchmarkHTMLText(b *testing.B) {
	s := "<html><head><style>.x { color: red }</style></head><body><table>" +
		strings.ReplaceAll(benchTexts[0].text, "\n", "</td></tr>\n<tr><td class=\"row\" style=\"color:#333;font-size:12px\">") + "</table>"
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		htmlText(s, true)
	}
}
