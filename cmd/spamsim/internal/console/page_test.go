package console

import (
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// wellFormed reads a page strictly but for what HTML lets out.
func wellFormed(page string) error {
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, []string{"meta", "link", "input"}, xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// everyPage lists the pages of a console that has a campaign.
func everyPage(campaign string) []string {
	return []string{"/", "/?span=hours", "/campaigns", "/campaigns?view=size", "/campaigns?view=newest", "/campaigns?view=labelled",
		"/campaigns/" + campaign, "/sigma", "/why", "/why?id=5\"'><b>@x.test", "/why?id=unknown@x.test", "/health", "/nothing", "/campaigns/00000000"}
}

// TestPages asks for every page of a console whose mail means harm, and for those of one that has seen nothing.
func TestPages(t *testing.T) {
	w := newWorld(t, token)
	id := w.hostile()
	w.fill(1)
	for _, path := range everyPage(id) {
		code, page := w.get(path)
		want := http.StatusOK
		if path == "/nothing" || strings.HasSuffix(path, "00000000") || strings.Contains(path, "unknown") {
			want = http.StatusNotFound
		}
		if code != want {
			t.Errorf("%s: status %d, want %d\n%s", path, code, want, w.log.String())
		}
		if err := wellFormed(page); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, harm := range []string{"<script", "<img", "<b>", "\u202e", "\u200b", "\x1b", "style=", "ZgotmplZ"} {
			if strings.Contains(page, harm) {
				t.Errorf("%s has %q in it", path, harm)
			}
		}
	}
	empty := newWorld(t, token)
	for _, path := range everyPage("00000000")[:6] {
		if code, page := empty.get(path); code != http.StatusOK || wellFormed(page) != nil {
			t.Errorf("%s of an empty store: status %d\n%s", path, code, page)
		}
	}
}
