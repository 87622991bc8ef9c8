package smtpproxy

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/emersion/go-msgauth/dkim"

	"spamsim/milter/filter"
)

// TestSignaturesSurvive: messages are signed, go through the proxy with a field put on top, and verify.
func TestSignaturesSurvive(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(name string) ([]string, error) {
		if strings.HasPrefix(name, "ed.") {
			return []string{"v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(edwards.Public().(ed25519.PublicKey))}, nil
		}
		return []string{"v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(public)}, nil
	}
	hop := newFake(t, nil)
	j := judgement{Add: []filter.Field{{Name: "X-Spamsim", Value: " clean; id=proxy.test"}}, Strip: []string{"X-Spamsim"}}
	_, addr := start(t, Config{NextHop: hop.url(), Check: judging(j)})
	c, _ := hello(t, addr)
	const head = "From: a@client.test\r\nTo: b@hop.test\r\nSubject: signed\r\n"
	for name, message := range map[string]string{
		"plain":             head + "\r\nbody\r\n",
		"8-bit":             head + "X-Name: J\xf6rg \xd0\x9f\r\n\r\nGr\xfc\xdfe \xd0\x9f\r\n",
		"long lines":        head + "\r\n" + strings.Repeat("x", 5000) + "\r\n" + strings.Repeat("y ", 999) + "\r\n",
		"dots":              head + "\r\n.\r\n..\r\n.x\r\n\r\n.\r\n",
		"no final newline":  head + "\r\nbody",
		"header alone":      head,
		"header and a line": head + "\r\n",
		"empty lines":       head + "\r\n\r\n\r\nx\r\n\r\n\r\n",
		"NUL and bare CR":   head + "\r\na\x00b\rc\r\n",
		"white space":       head + "\r\n a \t \r\n\t\r\n",
	} {
		for _, canon := range []dkim.Canonicalization{dkim.CanonicalizationSimple, dkim.CanonicalizationRelaxed} {
			options := &dkim.SignOptions{Domain: "client.test", Selector: "rsa", Signer: key,
				HeaderCanonicalization: canon, BodyCanonicalization: canon}
			if len(name)%2 == 0 {
				options.Selector, options.Signer = "ed", edwards
			}
			var signed bytes.Buffer
			if err := dkim.Sign(&signed, strings.NewReader(message+missing(message)), options); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if r := c.mail(stuff(strings.TrimSuffix(signed.String(), missing(message)))); !strings.HasPrefix(r, "250 ") {
				t.Fatalf("%s: %q", name, r)
			}
			mails := hop.mails()
			arrived := mails[len(mails)-1].content
			arrived = append(arrived, missing(message)...)
			checks, err := dkim.VerifyWithOptions(bytes.NewReader(arrived), &dkim.VerifyOptions{LookupTXT: lookup})
			if err != nil || len(checks) != 1 || checks[0].Err != nil {
				t.Errorf("%s, %s: %v, %+v", name, canon, err, checks)
			}
		}
	}
}

// missing is the empty line that a header without a body lacks, without which go-msgauth reads no message. To a
// signature it makes no difference: the body is empty in both.
func missing(message string) string {
	if strings.Contains(message, "\r\n\r\n") {
		return ""
	}
	return "\r\n"
}
