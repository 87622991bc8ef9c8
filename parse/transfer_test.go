package parse

import (
	"bytes"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"mime/quotedprintable"
	"strings"
	"testing"
)

func TestDecodeQP(t *testing.T) {
	for in, want := range map[string]string{
		"plain":              "plain",
		"=C3=a9":             "é",
		"a=\r\nb=\nc":        "abc",
		"a= \t\r\nb":         "ab",
		"a=\rb":              "ab",
		"end=":               "end",
		"a= b":               "a= b",
		"1=2 =ZZ =4 ==41 =":  "1=2 =ZZ =4 =A ",
		"=3D=0A=00\xff":      "=\n\x00\xff",
		"===\n=41":           "==A",
		"http://x/?a=b&c=%d": "http://x/?a=b&c=%d",
	} {
		if got, _ := decodeQP([]byte(in)); string(got) != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

// TestQPAgrees compares with the standard library on what its encoder writes.
func TestQPAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range 300 {
		in := make([]byte, n)
		for i := range in {
			in[i] = byte(r.UintN(256))
		}
		var enc bytes.Buffer
		w := quotedprintable.NewWriter(&enc)
		w.Binary = true
		w.Write(in)
		w.Close()
		want, err := io.ReadAll(quotedprintable.NewReader(bytes.NewReader(enc.Bytes())))
		got, flaw := decodeQP(enc.Bytes())
		if err != nil || flaw != "" || !bytes.Equal(got, want) || !bytes.Equal(got, in) {
			t.Fatalf("%x: got %x, %s", in, got, flaw)
		}
	}
}

func TestDecodeBase64(t *testing.T) {
	for in, want := range map[string]string{
		"aGVsbG8=":             "hello",
		"aGVs\r\nbG8=\r\n":     "hello",
		"aGVsbG8":              "hello",
		"aGVsbG":               "hell",
		"a G V s b G 8 =":      "hello",
		"aGVs!*\x80bG8=":       "hello",
		"aGVsbG8=aGVsbG8=":     "hellohello",
		"aGVsbG8=\n\nd29ybGQ=": "helloworld",
		"aGVs====bG8=":         "hello",
		"":                     "",
		"=":                    "",
	} {
		if got, _ := decodeBase64([]byte(in)); string(got) != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

// TestLenientBase64Agrees compares the lenient decoder with the standard one on sound input.
func TestLenientBase64Agrees(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for n := range 300 {
		in := make([]byte, n)
		for i := range in {
			in[i] = byte(r.UintN(256))
		}
		enc := base64.StdEncoding.EncodeToString(in)
		if got := lenientBase64(nil, []byte(enc)); !bytes.Equal(got, in) {
			t.Fatalf("%x: got %x", in, got)
		}
	}
}

func TestBase64Text(t *testing.T) {
	long := strings.Repeat("The text of a message, all of it printable. ", 8)
	enc := base64.StdEncoding.EncodeToString([]byte(long))
	lines := enc[:76] + "\n" + enc[76:152] + "\n" + enc[152:228] + "\n" + enc[228:] + "\n"
	footer := "-- \nA footer of a list, in plain text: see http://example.org/\n"
	for name, c := range map[string]struct{ in, want string }{
		"sound":            {lines, long},
		"spaces":           {strings.ReplaceAll(lines, "\n", " \n\t"), long},
		"junk in lines":    {strings.ReplaceAll(lines, "V", "V*"), long},
		"footer":           {lines + footer, long + "\n" + footer},
		"heading":          {footer + lines, footer + long},
		"both":             {footer + lines + footer, footer + long + "\n" + footer},
		"plain":            {footer + footer, footer + footer},
		"8-bit":            {"gr\xfc\xdfe\n", "gr\xfc\xdfe\n"},
		"UTF-16 and a gap": {"aABlAGwAbABv*AA=", "h\x00e\x00l\x00l\x00o\x00"},
	} {
		if got, _ := decodeBase64Text([]byte(c.in)); string(got) != c.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestDecodeUU(t *testing.T) {
	for in, want := range map[string]string{
		"begin 644 a\n#0V%T\n`\nend\n":             "Cat",
		"begin 644 a\r\n#0V%T\r\n`\r\nend\r\n":     "Cat",
		"top\nbegin 644 a\n#0V%T\nend\nbottom\n":   "top\nCat\nbottom\n",
		"begin 644 a\n#0V%T\nno data at all: kept": "Catno data at all: kept",
		"begin 644 a\nend\n":                       "",
		"begin 644 a\n$0V$\n":                      "Ca\x00\x00",
		"nothing begins":                           "",
	} {
		if got := decodeUU([]byte(in)); string(got) != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
	if got, flaw := decodeTransfer([]byte("nothing begins"), "x-uue", true, 100); string(got) != "nothing begins" || flaw == "" {
		t.Errorf("got %q, %q", got, flaw)
	}
}

func TestTransferNames(t *testing.T) {
	for name, want := range map[string]string{
		"":                            "=41",
		"7bit":                        "=41",
		"8BIT ":                       "=41",
		"Quoted-Printable":            "A",
		`"quoted-printable"; x=y`:     "A",
		"quoted-printable (comment)":  "A",
		"(odd) quoted-printable":      "A",
		"x-unheard-of":                "=41",
		"quoted-printable,8bit":       "=41",
		"(never closed base64":        "=41",
		strings.Repeat("(", 10) + ")": "=41",
	} {
		got, flaw := decodeTransfer([]byte("=41"), name, true, 100)
		unknown := strings.HasPrefix(name, "x-") || strings.Contains(name, ",") || strings.HasPrefix(name, "(n")
		if string(got) != want || (flaw == defectEncoding) != unknown {
			t.Errorf("%s: got %q, %q", name, got, flaw)
		}
	}
}

func TestTransferLimit(t *testing.T) {
	for _, encoding := range []string{"", "quoted-printable", "base64", "x-uue"} {
		got, flaw := decodeTransfer(bytes.Repeat([]byte("QUJD"), 10000), encoding, false, 10)
		if len(got) != 10 || flaw != defectDecoded {
			t.Errorf("%s: got %d octets, %q", encoding, len(got), flaw)
		}
	}
}
