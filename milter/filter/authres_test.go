package filter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spamsim/parse"
)

// TestAuthenticationResults reads fields as verifiers write them, and as senders would like them to be read: a local part in
// quotes (RFC 5321 section 4.1.2) may hold anything, and stands in smtp.mailfrom and in comments.
func TestAuthenticationResults(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		want  bool
	}{
		"opendkim":                     {"mx.example.net;\r\n\tdkim=pass (2048-bit key; unprotected) header.d=example.com header.i=@example.com header.a=rsa-sha256 header.s=k header.b=\"Gx/1=\"", true},
		"opendkim, a key in a reason":  {`mx.example.net; dkim=pass reason="1024-bit key; unprotected key" header.d=example.com`, true},
		"rspamd":                       {"mx.example.net;\r\n\tdkim=pass header.d=example.com header.s=k header.b=Gx1;\r\n\tspf=pass (mx.example.net: domain of a@b designates 192.0.2.1) smtp.mailfrom=a@b", true},
		"versions, blanks, upper case": {"mx.example.net 1 ; DKIM/1 = Pass HEADER.D = Example.COM", true},
		"second signature":             {"mx.example.net; dkim=fail header.d=example.com; dkim=pass header.d=example.com", true},
		"nested comments":              {"mx.example.net (a (b; c) d); dkim=pass (e (f)) header.d=example.com", true},
		"quoted domain":                {`mx.example.net; dkim=pass header.d="example.com"`, true},
		"none":                         {"mx.example.net; none", false},
		"no domain":                    {"mx.example.net; dkim=pass", false},
		"domain cut off":               {"mx.example.net; dkim=pass header.d=", false},
		"identity alone":               {"mx.example.net; dkim=pass header.i=@example.com", false},
		"another's signature":          {"mx.example.net; dkim=pass header.d=evil.example header.i=@example.com", false},
		"another method":               {"mx.example.net; arc=pass header.d=example.com", false},
		"result in a sender":           {`mx.example.net; spf=pass smtp.mailfrom="a; dkim=pass header.d=example.com b"@evil.example`, false},
		"within a result":              {`mx.example.net; spf=pass smtp.mailfrom="a dkim=pass header.d=example.com b"@evil.example`, false},
		"a sender's escaped quote":     {`mx.example.net; spf=pass smtp.mailfrom="a\"; dkim=pass header.d=example.com b"@evil.example`, false},
		"result in a comment":          {"mx.example.net; spf=pass (x; dkim=pass header.d=example.com y) smtp.mailfrom=a@b", false},
		"a sender that ends a comment": {`mx.example.net; spf=pass (domain of "a); dkim=pass header.d=example.com (b"@evil.example) smtp.helo=x`, false},
		"an escaped end of a comment":  {`mx.example.net; spf=pass (a\); dkim=pass header.d=example.com (b) smtp.helo=x`, false},
		"a comment without its end":    {"mx.example.net; spf=pass (x; dkim=pass header.d=example.com", false},
		"host in quotes, with more":    {`"mx.example.net x"; dkim=pass header.d=example.com`, false},
		"no host":                      {"; dkim=pass header.d=example.com", false},
		"":                             {"", false},
	} {
		m := parse.Parse([]byte("Authentication-Results: "+c.value+"\r\n\r\nbody\r\n"), parse.Limits{})
		if got := signedBy(m, []string{"mx.example.net"}, "example.com"); got != c.want {
			host, results := readResults(c.value)
			t.Errorf("%s: %v, of %q %v", name, got, host, results)
		}
	}
}

// FuzzAuthenticationResults holds that nothing that a sender writes, put into a quoted string as RFC 5322 section 3.2.4 has
// it, reads as a word of its own or changes what is read before and after it.
func FuzzAuthenticationResults(f *testing.F) {
	f.Add(`a; dkim=pass header.d=example.com`)
	f.Add(`\" dkim=pass ( \`)
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	f.Fuzz(func(t *testing.T, said string) {
		before, after := "mx; spf=pass (of \""+quote.Replace(said)+"\"@b) smtp.mailfrom=", " smtp.helo=h; dkim=fail header.d=d"
		host, got := readResults(before + `"` + quote.Replace(said) + `"@b` + after)
		set := word{"=", true}
		want := []result{
			{{text: "spf"}, set, {text: "pass"}, {text: "smtp.mailfrom"}, set, {text: said + "@b"}, {text: "smtp.helo"}, set, {text: "h"}},
			{{text: "dkim"}, set, {text: "fail"}, {text: "header.d"}, set, {text: "d"}},
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(word{})); d != "" || host != "mx" {
			t.Errorf("host %q, -want +got:\n%s", host, d)
		}
	})
}
