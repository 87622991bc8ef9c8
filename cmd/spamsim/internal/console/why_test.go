package console

import (
	"strings"
	"testing"
)

// TestExplainForms reads the ways in which a message may come, and the wrong ones.
func TestExplainForms(t *testing.T) {
	w := newWorld(t, token)
	const text, file = "Content-Disposition: form-data; name=\"message\"\r\n\r\n", "Content-Disposition: form-data; name=\"file\"; filename=\"x.eml\"\r\n\r\n"
	mail := "Subject: x\r\n\r\nA few words that are <b>not</b> enough.\r\n"
	for _, c := range []struct {
		name, body string
		want       int
		has        string
	}{
		{"pasted", "--b\r\n" + text + mail + "\r\n--b\r\n" + file + "\r\n--b--\r\n", 200, "abstain"},
		{"a file", "--b\r\n" + text + "\r\n--b\r\n" + file + mail + "\r\n--b--\r\n", 200, "abstain"},
		{"nothing", "--b\r\n" + text + " \r\n--b--\r\n", 400, "There is no message"},
		{"cut", "--b\r\n" + text + mail, 400, "cannot be read"},
		{"empty", "", 400, "There is no message"},
		{"too large", "--b\r\n" + text + strings.Repeat("x", 2<<20) + "\r\n--b--\r\n", 413, "larger than what is judged"},
	} {
		r := postForm("/why", c.body)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		r.SetBasicAuth("", token)
		if code, page := w.do(r); code != c.want || !strings.Contains(page, c.has) || strings.Contains(page, "<b>not") {
			t.Errorf("%s: %d\n%s", c.name, code, page)
		}
	}
	r := postForm("/why", "message=x")
	r.SetBasicAuth("", token)
	if code, _ := w.do(r); code != 400 {
		t.Errorf("another kind of form: %d", code)
	}
}
