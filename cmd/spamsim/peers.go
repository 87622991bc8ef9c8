package main

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/store"
	"spamsim/store/replica"
)

// shortestKey is in octets: 128 bits.
const shortestKey = 16

// siteKey reads the key that the nodes of a site have together; nil where the node is alone.
func siteKey(conf *config.Loaded) ([]byte, error) {
	if conf.Peers.URL.Reveal() == "" {
		return nil, nil
	}
	file := conf.Peers.KeyFile
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("peers.key_file: %w", err)
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(data)))
	if err != nil || len(key) < shortestKey {
		return nil, fmt.Errorf("peers.key_file: %s has not %d or more hex digits, such as \"openssl rand -hex 32\" prints", file, 2*shortestKey)
	}
	return key, nil
}

// joinPeers begins to share the store, where the configuration says so. The broker need not be there.
func joinPeers(conf *config.Loaded, s *store.Store, key []byte, log *slog.Logger) (*replica.Replica, error) {
	if key == nil {
		return nil, nil
	}
	roots, err := rootsOf(conf.Peers.CA)
	if err != nil {
		return nil, fmt.Errorf("peers.ca: %w", err)
	}
	share, err := s.Share(conf.ID, key)
	if errors.Is(err, store.ErrKey) {
		return nil, fmt.Errorf("%s: %w than that of %s; \"spamsim help peers\" says what to do", conf.Store.Path, err, conf.Peers.KeyFile)
	}
	if err != nil {
		return nil, err
	}
	background, err := backgroundOf(conf.Store.Path)
	if err != nil {
		return nil, err
	}
	r, err := replica.Start(share, replica.Options{
		URL: conf.Peers.URL.Reveal(), Name: conf.ID, Key: key, Roots: roots, Version: version(), Background: background, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("peers.url: %w", err)
	}
	return r, nil
}

// rootsOf are the certificates of a file; nil, those of the system, where there is none.
func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data) {
		return nil, fmt.Errorf("%s has no certificate", file)
	}
	return roots, nil
}

// backgroundOf sums up the background of a store, for peers to compare.
func backgroundOf(path string) (string, error) {
	data, err := os.ReadFile(path + store.BackgroundFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "shipped", nil
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:4]), nil
}

// standing is how the daemon stands with its peers, nil where it has none.
func (d *daemon) standing() *replica.Status {
	peers := d.peers.Load()
	if peers == nil {
		return nil
	}
	s := peers.Status()
	return &s
}
