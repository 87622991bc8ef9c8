package replica

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
)

// failed says of what went wrong with the broker how to mend it, where that is known.
func failed(err error) error {
	if advice := adviceOn(err); advice != "" {
		return fmt.Errorf("broker: %w: %s", err, advice)
	}
	return fmt.Errorf("broker: %w", err)
}

func adviceOn(err error) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &authority):
		return "let peers.ca name a file with the certificate of the authority that signed the broker's"
	case errors.As(err, &name):
		return "let peers.url have a name that the broker's certificate is for"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "renew the broker's certificate, or set this machine's clock"
	}
	for _, x := range answers {
		if strings.Contains(err.Error(), x.begins) {
			return x.advice
		}
	}
	return ""
}

// answers are the broker's own: the first word of its errors is part of the protocol.
var answers = []struct{ begins, advice string }{
	{"WRONGPASS", "user and password of peers.url are not those of the broker"},
	{"NOAUTH", "the broker wants a password: let peers.url have it"},
	{"NOPERM", "give the broker's user the rights that \"spamsim help peers\" names"},
	{"OOM command", "the broker's memory is full: raise its maxmemory"},
	{"MISCONF", "the broker cannot write its own file: look into its log"},
	{"READONLY", "peers.url names a replica: let it name the master, or use redis+sentinel:"},
}
