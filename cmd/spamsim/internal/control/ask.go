package control

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"

	"spamsim/milter/filter"
)

// An Ask is how a message is to be judged. What it says of the envelope stands in the place of what the message's header
// suggests; the zero value says nothing.
type Ask struct {
	Learn      bool    // count the message as a copy that came now
	Sender     *string // envelope sender; "" is the null sender, nil unknown
	Recipients []string
	Client     string // IP address of the sending host
	Helo       string
}

// errClient is a client that is no address.
var errClient = errors.New("client is no IP address")

// Check tells what is wrong with an Ask.
func (a *Ask) Check() error {
	if a.Client == "" {
		return nil
	}
	if _, err := netip.ParseAddr(a.Client); err != nil {
		return errClient
	}
	return nil
}

// fill puts what is told into an envelope.
func (a *Ask) fill(env *filter.Envelope) {
	if a.Sender != nil {
		env.Sender = *a.Sender
	}
	if a.Recipients != nil {
		env.Recipients = a.Recipients
	}
	if a.Client != "" {
		env.ClientAddr = a.Client
	}
	if a.Helo != "" {
		env.Helo = a.Helo
	}
}

// query is an Ask as the parameters of a request.
func (a *Ask) query() string {
	q := url.Values{"learn": {strconv.FormatBool(a.Learn)}}
	if a.Sender != nil {
		q.Set("sender", *a.Sender)
	}
	for _, r := range a.Recipients {
		q.Add("recipient", r)
	}
	if a.Client != "" {
		q.Set("client", a.Client)
	}
	if a.Helo != "" {
		q.Set("helo", a.Helo)
	}
	return q.Encode()
}

// parseAsk reads the parameters of a request; others than these are refused, lest a mistyped one count for nothing.
func parseAsk(raw string) (a Ask, err error) {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return a, errors.New("the parameters cannot be read")
	}
	for name, values := range q {
		last := values[len(values)-1]
		switch name {
		case "learn":
			if a.Learn, err = strconv.ParseBool(last); err != nil {
				return a, errors.New("learn is true or false")
			}
		case "sender":
			a.Sender = &last
		case "recipient":
			a.Recipients = values
		case "client":
			a.Client = last
		case "helo":
			a.Helo = last
		default:
			return a, errors.New("the parameters are learn, sender, recipient, client, helo")
		}
	}
	return a, a.Check()
}
