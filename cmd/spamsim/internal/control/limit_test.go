package control

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/iotest"
)

// TestLimitBeforeBody: a message that is announced as too large is refused before any of it is read.
func TestLimitBeforeBody(t *testing.T) {
	r := httptest.NewRequest("POST", "/v1/check", iotest.ErrReader(errors.New("it was read")))
	r.ContentLength = 1001
	w := httptest.NewRecorder()
	Handler(&record{}, 1000).ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
