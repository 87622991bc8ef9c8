package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An Authority signs certificates.
type Authority struct {
	Roots *x509.CertPool // of itself alone
	File  string         // the same as PEM

	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes one that nobody else knows.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{Roots: x509.NewCertPool(), File: filepath.Join(t.TempDir(), "ca.pem")}
	der := a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority for tests"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, filepath.Join(t.TempDir(), "ca.key"), a.File)
	var err error
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.Roots.AddCert(a.cert)
	return a
}

// sign makes a key and a certificate for it, signed by the authority, or where that has none yet by the key itself, which
// then is the authority's; both are written to files.
func (a *Authority) sign(t testing.TB, c *x509.Certificate, keyFile, certFile string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	by, with := a.cert, a.key
	if by == nil {
		by, with, a.key = c, key, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, by, key.Public(), with)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{keyFile: {Type: "EC PRIVATE KEY", Bytes: private}, certFile: {Type: "CERTIFICATE", Bytes: der}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return der
}

// StartTLS starts a server that speaks nothing but TLS, by a certificate of an authority for 127.0.0.1, with further
// arguments.
func StartTLS(t testing.TB, a *Authority, more ...string) *Server {
	t.Helper()
	dir := t.TempDir()
	key, cert := filepath.Join(dir, "key.pem"), filepath.Join(dir, "cert.pem")
	a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, key, cert)
	s := prepare(t)
	s.tls = &tls.Config{RootCAs: a.Roots, ServerName: "127.0.0.1"}
	s.args = append(append(s.args, "--port", "0", "--tls-port", s.port(), "--tls-key-file", key, "--tls-cert-file", cert,
		"--tls-ca-cert-file", a.File, "--tls-auth-clients", "no"), more...)
	s.Run()
	return s
}
