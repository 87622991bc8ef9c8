package smtpproxy

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"spamsim/milter/filter"
)

// A maildir is a next hop that is a folder. It owns what it takes: file and folder are on disk before it says so.
// Lines end in LF in its files, as Unix has it and mail readers expect.
type maildir struct {
	server *Server
	path   string
	count  atomic.Int64 // of deliveries, for unique names
}

// newMaildir makes the folders where they are missing, for their owner alone.
func newMaildir(s *Server, path string) (*maildir, error) {
	for _, sub := range []string{"tmp", "new", "cur"} {
		if err := os.MkdirAll(filepath.Join(path, sub), 0o700); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNextHop, err)
		}
	}
	return &maildir{server: s, path: path}, nil
}

func (m *maildir) features() (features, error) { return *maildirFeatures, nil }

func (m *maildir) begin() (delivery, error) { return &deposit{dir: m}, nil }

func (m *maildir) close() {}

// maildirFeatures: it takes all content. DSN is not among them, since nobody would send the notifications.
var maildirFeatures = &features{pipelining: true, size: true, eightBit: true, utf8: true, enhanced: true}

// name makes a file name that no other delivery has, on this host or another: time, process and count, chance, host.
func (m *maildir) name() string {
	var chance [8]byte
	_, _ = rand.Read(chance[:])
	host := strings.NewReplacer("/", `\057`, ":", `\072`).Replace(m.server.cfg.Hostname)
	now := time.Now()
	return fmt.Sprintf("%d.M%06dP%dQ%dR%x.%s", now.Unix(), now.Nanosecond()/1000, os.Getpid(), m.count.Add(1), chance, host)
}

// A deposit is one message on its way into a maildir.
type deposit struct {
	dir    *maildir
	name   string
	file   *os.File
	w      *bufio.Writer
	cr     bool // the last octet was a CR that is not written yet
	answer []reply
}

func (d *deposit) features() *features { return maildirFeatures }

func (d *deposit) mail(string, xforward) { d.answer = append(d.answer, replyMailOk) }

func (d *deposit) rcpt(string) { d.answer = append(d.answer, replyRcptOk) }

func (d *deposit) next() (reply, error) {
	if len(d.answer) == 0 {
		return "", fmt.Errorf("%w: nothing was asked", errAnswer)
	}
	r := d.answer[0]
	d.answer = d.answer[1:]
	return r, nil
}

// data creates the file.
func (d *deposit) data() (reply, error) {
	name := d.dir.name()
	f, err := os.OpenFile(filepath.Join(d.dir.path, "tmp", name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return noSpace(err)
	}
	d.name, d.file, d.w = name, f, bufio.NewWriterSize(f, maxPiece)
	return replyReady, nil
}

// noSpace is the answer where a disk is full, else the error itself.
func noSpace(err error) (reply, error) {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return replyNoSpace, nil
	}
	return "", err
}

// trace keeps the envelope, of which a file has no other place: Return-Path and Received, which RFC 5321 section 4.4 demands of
// the last delivery, and Delivered-To for each recipient.
func (d *deposit) trace(env *filter.Envelope) []filter.Field {
	fields := []filter.Field{{Name: "Return-Path", Value: " <" + env.Sender + ">"}}
	for _, to := range env.Recipients {
		fields = append(fields, filter.Field{Name: "Delivered-To", Value: " " + to})
	}
	return append(fields, filter.Field{Name: "Received", Value: fromClause(env) + "by " + d.dir.server.cfg.Hostname + " id " + d.name + ";\n\t" + time.Now().Format("Mon, 2 Jan 2006 15:04:05 -0700")})
}

// maxHelo is the most octets of a host's name (RFC 5321 section 4.5.3.1.2).
const maxHelo = 255

// heloWord is what the client said of itself, as it may stand in Received: what would begin another clause there is "?".
func heloWord(helo string) string {
	if helo == "" {
		return "unknown"
	}
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(".:-_[]", c) || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' {
			return c
		}
		return '?'
	}, helo[:min(len(helo), maxHelo)])
}

// fromClause tells of the client in Received. Of one whose address is not known there is none: it is of this host, and a field
// below tells where the message came from.
func fromClause(env *filter.Envelope) string {
	addr := env.ClientAddr
	if addr == "" {
		return " "
	}
	if strings.Contains(addr, ":") {
		addr = "IPv6:" + addr
	}
	return " from " + heloWord(env.Helo) + " ([" + addr + "])\n\t"
}

// Write writes CRLF as LF. Errors stay in the writer until commit.
func (d *deposit) Write(content []byte) (int, error) {
	for rest := content; len(rest) > 0; {
		if d.cr && rest[0] != '\n' {
			_ = d.w.WriteByte('\r')
		}
		d.cr = false
		i := bytes.IndexByte(rest, '\r')
		if i < 0 {
			_, _ = d.w.Write(rest)
			break
		}
		_, _ = d.w.Write(rest[:i])
		d.cr = true
		rest = rest[i+1:]
	}
	return len(content), nil
}

// commit makes the file last and shows it in "new". A client that is told otherwise must not find it there.
func (d *deposit) commit(sure func() bool) ([]reply, error) {
	if d.cr {
		_ = d.w.WriteByte('\r')
	}
	err := errors.Join(d.w.Flush(), d.file.Sync(), d.file.Close())
	d.file = nil
	if err == nil && !sure() {
		err = errNotSure
	}
	if err == nil {
		err = d.show()
	}
	if err != nil {
		os.Remove(filepath.Join(d.dir.path, "tmp", d.name))
		r, err := noSpace(err)
		return []reply{r}, err
	}
	return []reply{reply("250 2.0.0 Ok: delivered as " + d.name + "\r\n")}, nil
}

// show moves the file to "new".
func (d *deposit) show() error {
	to := filepath.Join(d.dir.path, "new", d.name)
	if err := os.Rename(filepath.Join(d.dir.path, "tmp", d.name), to); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(to)); err != nil {
		os.Remove(to)
		return err
	}
	return nil
}

// syncDir makes a folder's entries last.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// drop removes what was begun.
func (d *deposit) drop() {
	if d.file != nil {
		d.file.Close()
		os.Remove(filepath.Join(d.dir.path, "tmp", d.name))
		d.file = nil
	}
}

// abort has nothing to interrupt: a disk is not waited for.
func (d *deposit) abort() {}
