package control

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// FuzzControl sends any request to the API. Every answer of the API itself is one JSON value; no body over the limit
// reaches the service, and one that does reaches it whole.
func FuzzControl(f *testing.F) {
	f.Add("POST", "/v1/check?learn=true", []byte("Subject: x\r\n\r\n"), true)
	f.Add("POST", "/check?sender=&recipient=a@x&recipient=b@x&client=192.0.2.1&helo=x", []byte("Subject: x\r\n\r\n"), true)
	f.Add("POST", "/check?client=x", []byte("x"), true)
	f.Add("POST", "/v1/train?label=spam", []byte(""), false)
	f.Add("POST", "/v1/train?label=%00", []byte("\x00"), false)
	f.Add("POST", "/v1/explain?client=192.0.2.1&recipient=a@x&recipient=b@x", []byte("x"), true)
	f.Add("POST", "/v1/forget/person?as=sender&address=a%40x", []byte(nil), false)
	f.Add("POST", "/v1/forget", bytes.Repeat([]byte("x"), 65), true)
	f.Add("POST", "/v1/sync", []byte(nil), true)
	f.Add("GET", "/v1/stats", []byte(nil), true)
	f.Add("GET", "/v1/campaigns?view=live&limit=20", []byte(nil), true)
	f.Add("GET", "/v1/campaigns/7f3a19c2", []byte(nil), true)
	f.Add("POST", "/v1/campaigns/7f3a19c2/label?label=none&name=%00", []byte(nil), true)
	f.Add("POST", "/v1/campaigns/%2f/drop", []byte("x"), false)
	f.Add("POST", "/v1/judge?count=true", []byte("{\"Door\":\"smtp\"}\nSubject: x\r\n\r\n"), true)
	f.Add("POST", "/v1/judge?count=false", []byte("{\"Time\":1}\n"), false)
	f.Add("POST", "/v1/upgrade", []byte(nil), true)
	f.Add("DELETE", "//v1/../stats?%zz", []byte(nil), true)
	f.Fuzz(func(t *testing.T, method, target string, body []byte, known bool) {
		req, err := http.NewRequest(method, "http://spamsim/"+strings.TrimPrefix(target, "/"), io.NopCloser(bytes.NewReader(body)))
		if err != nil {
			return
		}
		if known {
			req.ContentLength = int64(len(body))
		} else {
			req.ContentLength = -1
		}
		s := &record{}
		w := httptest.NewRecorder()
		Handler(s, 64).ServeHTTP(w, req)
		for _, c := range s.calls {
			verb, _, _ := strings.Cut(c, " ")
			if len(body) > 64 && slices.Contains([]string{"check", "explain", "train", "forget"}, verb) {
				t.Fatalf("%s was called with %d octets", verb, len(body))
			}
		}
		if len(s.calls) > 1 || w.Code >= 500 || w.Code == 200 && len(s.calls) != 1 {
			t.Fatalf("%s %s: %d after %q", method, target, w.Code, s.calls)
		}
		if w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("no JSON: %q", w.Body)
		}
	})
}
