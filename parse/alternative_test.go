package parse

import (
	"strings"
	"testing"
)

// TestAlternative says which alternative is read.
func TestAlternative(t *testing.T) {
	const (
		plain    = "\nplain words"
		html     = "Content-Type: text/html\n\n<p>marked words</p>"
		picture  = "Content-Type: text/html\n\n<img src=x.png>"
		calendar = "Content-Type: text/calendar\n\nBEGIN:VCALENDAR"
		image    = "Content-Type: image/png\n\nPNG"
	)
	related := multipart("related", "r", html, image)
	for name, c := range map[string]struct {
		parts []string
		want  string
	}{
		"plain and HTML":            {[]string{plain, html}, "marked words"},
		"HTML and plain":            {[]string{html, plain}, "marked words"},
		"HTML with pictures":        {[]string{plain, related}, "marked words"},
		"an HTML without words":     {[]string{plain, picture}, "plain words"},
		"no plain":                  {[]string{"\n", html}, "marked words"},
		"a tiny plain":              {[]string{"\nHTML!", html}, "marked words"},
		"an invitation":             {[]string{plain, html, calendar}, "marked words"},
		"two plain":                 {[]string{plain, "\nother words"}, "other words"},
		"two HTML":                  {[]string{html, strings.ReplaceAll(html, "marked", "later")}, "later words"},
		"an alternative in another": {[]string{plain, multipart("alternative", "a", plain, html)}, "marked words"},
		"a mixture beside plain":    {[]string{plain, multipart("mixed", "m", "\nmixed words", image)}, "mixed words"},
		"one":                       {[]string{plain}, "plain words"},
		"no words at all":           {[]string{"\n...", "\n!!!"}, "!!!"},
		"AMP behind HTML":           {[]string{plain, html, "Content-Type: text/x-amp-html\n\n<p>living words</p>"}, "marked words"},
		"AMP behind plain":          {[]string{plain, "Content-Type: text/x-amp-html\n\n<p>living words</p>"}, "plain words"},
		"a type that few know":      {[]string{plain, "Content-Type: text/x-decoy\n\ndecoy words"}, "plain words"},
		"RTF":                       {[]string{plain, "Content-Type: text/rtf\n\n{\\rtf1 rich words}"}, "plain words"},
		"RTF alone":                 {[]string{"Content-Type: text/rtf\n\nrich words"}, "rich words"},
		"only a picture":            {[]string{image}, ""},
	} {
		m := Parse([]byte(multipart("alternative", "x", c.parts...)), Limits{})
		if got := strings.TrimSpace(text(m)); got != c.want {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// TestAttachmentsOfAlternatives: a file in an alternative that is not shown is attached all the same.
func TestAttachmentsOfAlternatives(t *testing.T) {
	raw := multipart("alternative", "x", multipart("mixed", "m", "\nplain", "Content-Type: image/gif\n\nGIF"),
		"Content-Type: text/html\n\nshown")
	if m := Parse([]byte(raw), Limits{}); len(m.Attachments) != 1 || m.Attachments[0].Type != "image/gif" {
		t.Errorf("got %v", m.Attachments)
	}
}
