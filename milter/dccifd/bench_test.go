package dccifd

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"spamsim/milter/filter"
)

// BenchmarkRequest is a request of 4 KB with its connection over a Unix socket, without judging.
func BenchmarkRequest(b *testing.B) {
	judge := func(context.Context, *filter.Envelope, []byte) filter.Judgement {
		return filter.Judgement{Verdict: clean}
	}
	s := &Server{Check: judge, Peek: judge, ID: "mx1"}
	l, err := net.Listen("unix", b.TempDir()+"/s")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	text := one + strings.Repeat("A line of a message, as they are written.\r\n", 4096/43)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			conn, err := net.Dial("unix", l.Addr().String())
			if err != nil {
				b.Error(err)
				return
			}
			_, err = io.WriteString(conn, text)
			err = errors.Join(err, conn.(*net.UnixConn).CloseWrite())
			answer, read := io.ReadAll(conn)
			if err := errors.Join(err, read, conn.Close()); err != nil || string(answer) != "A\nA\n"+cleanLine {
				b.Errorf("answered %q, %v", answer, err)
				return
			}
		}
	})
}
