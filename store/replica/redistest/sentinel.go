package redistest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// MasterName is what sentinels call the server that they watch.
const MasterName = "spamsim-test"

// Sentinel starts a sentinel that watches a server, and lets another one that repeats it take its place once it is gone for
// half a second.
func Sentinel(t testing.TB, master *Server) *Server {
	t.Helper()
	s := prepare(t)
	file := filepath.Join(t.TempDir(), "sentinel.conf") // sentinels write to it
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\nsentinel monitor %[2]s 127.0.0.1 %[3]s 1\nsentinel down-after-milliseconds %[2]s 500\n"+
		"sentinel failover-timeout %[2]s 5000\n", s.port(), MasterName, master.port())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s.args = []string{file, "--sentinel"}
	s.Run()
	return s
}

// Repeat starts a server that repeats another.
func Repeat(t testing.TB, master *Server) *Server {
	t.Helper()
	return Start(t, "--replicaof", "127.0.0.1", master.port(), "--repl-diskless-sync-delay", "0")
}
