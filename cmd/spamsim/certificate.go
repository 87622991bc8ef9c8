package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"spamsim/cmd/spamsim/internal/config"
)

// A certificate is that of this host, read from two files, and again when they change: those who renew certificates
// restart nothing.
type certificate struct {
	log *slog.Logger

	mu    sync.Mutex
	files [2]string // certificate and key, PEM
	seen  [2]stamp
	held  *tls.Certificate
}

// A stamp tells one state of a file from another.
type stamp struct {
	size int64
	time time.Time
}

// readCertificate reads one that must be good, nil where the configuration has none.
func readCertificate(c config.TLS, log *slog.Logger) (*certificate, error) {
	if c.Certificate == "" {
		return nil, nil
	}
	out := &certificate{log: log}
	return out, out.replace(c)
}

// replace reads a certificate, which may lie in other files than before. One that is no good changes nothing.
func (c *certificate) replace(files config.TLS) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	names := [2]string{files.Certificate, files.Key}
	seen := stamps(names)
	held, err := loadPair(names)
	if err != nil {
		return fmt.Errorf("tls: %w", err)
	}
	c.files, c.seen, c.held = names, seen, &held
	return nil
}

// loadPair reads a certificate and its key. What is wrong with them, and not with their files, says nothing of where they lie.
func loadPair(files [2]string) (tls.Certificate, error) {
	out, err := tls.LoadX509KeyPair(files[0], files[1])
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = fmt.Errorf("%s and %s: %w", files[0], files[1], err)
	}
	return out, err
}

// names are the names of hosts that it is good for.
func (c *certificate) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held.Leaf.DNSNames
}

// stamps are those of the files now; a file that is not there has none.
func stamps(files [2]string) (out [2]stamp) {
	for i, name := range files {
		if info, err := os.Stat(name); err == nil {
			out[i] = stamp{info.Size(), info.ModTime()}
		}
	}
	return out
}

// get is the certificate for a handshake. Files that are no good, such as while the two are being replaced one after the
// other, leave the old one in use until they change again.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := stamps(c.files)
	if now == c.seen {
		return c.held, nil
	}
	c.seen = now
	held, err := loadPair(c.files)
	if err != nil {
		c.log.Warn("the new certificate cannot be read, the old one stays in use", "err", err)
		return c.held, nil
	}
	c.held = &held
	c.log.Info("certificate read again", "file", c.files[0])
	return c.held, nil
}

// clientTLS is what clients are offered, nil where there is no certificate.
func clientTLS(c *certificate) *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
}

// errNoCertificates is a file of authorities that holds none.
var errNoCertificates = errors.New("no certificates in PEM")

// hopTLS is what is demanded of the next hop, nil where plain text will do.
func hopTLS(c config.SMTP) (*tls.Config, error) {
	if c.NextHopTLS != "require" {
		return nil, nil
	}
	out := &tls.Config{ServerName: c.NextHopName, MinVersion: tls.VersionTLS12}
	if c.NextHopCA == "" {
		return out, nil
	}
	pem, err := os.ReadFile(c.NextHopCA)
	if err != nil {
		return nil, fmt.Errorf("smtp.next_hop_ca: %w", err)
	}
	out.RootCAs = x509.NewCertPool()
	if !out.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("smtp.next_hop_ca: %s: %w", c.NextHopCA, errNoCertificates)
	}
	return out, nil
}
