package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// TestConfinedToItsOwn: a daemon that is led astray, by a link that somebody put into its maildir, does not write there.
func TestConfinedToItsOwn(t *testing.T) {
	mail, elsewhere := filepath.Join(t.TempDir(), "mail"), t.TempDir()
	addr := lab.FreeAddr(t)
	s := lab.StartSpamsim(t, "[smtp]\nlisten = [\""+addr+"\"]\nnext_hop = \"maildir:"+mail+"\"\n")
	if err := os.Remove(mail + "/tmp"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, mail+"/tmp"); err != nil {
		t.Fatal(err)
	}
	reply := lab.Send(t, addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\n\r\nHello.\r\n"))
	if strings.Contains(s.Log(), "files are not confined: the kernel has no Landlock") {
		t.Logf("the kernel has no Landlock: %s", reply)
		return
	}
	if left, err := os.ReadDir(elsewhere); reply[0] != '4' || len(left) > 0 || err != nil {
		t.Errorf("%s; %v lies elsewhere, %v", reply, left, err)
	}
}
