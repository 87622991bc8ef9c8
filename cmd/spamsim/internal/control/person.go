package control

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"spamsim/store"
)

// roles are the words for what somebody was of a message.
var roles = map[string]store.Role{"sender": store.Sender, "recipient": store.Recipient}

// ForgetPerson takes back what the store has of an address, which is counted in lower case.
func (l *Local) ForgetPerson(_ context.Context, as store.Role, address string) (store.Forgotten, error) {
	return l.Store.ForgetPerson(as, strings.ToLower(address))
}

// ForgetPerson takes back what the daemon's store has of an address.
func (c *Client) ForgetPerson(ctx context.Context, as store.Role, address string) (store.Forgotten, error) {
	q := url.Values{"address": {address}}
	for word, role := range roles {
		if role == as {
			q.Set("as", word)
		}
	}
	return call[store.Forgotten](ctx, c, "POST", "/v1/forget/person?"+q.Encode(), nil)
}

func (h *handler) forgetPerson(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	as, ok := roles[q.Get("as")]
	if !ok || q.Get("address") == "" {
		answer(w, nil, errRequest{errors.New("as is sender or recipient, address is not empty")})
		return
	}
	v, err := h.ForgetPerson(r.Context(), as, q.Get("address"))
	answer(w, v, err)
}
