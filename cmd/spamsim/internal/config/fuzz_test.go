package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"spamsim/configs"
)

// FuzzConfig reads any bytes as a configuration. What is accepted can be printed, and the print, once its secret is put
// back, is accepted and prints as itself; what is refused names the file in every line.
func FuzzConfig(f *testing.F) {
	f.Add(configs.Sample)
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range append(files, "testdata/good.toml") {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parse(data)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "f.toml:") {
					t.Fatalf("no place in %q", line)
				}
			}
			return
		}
		first := dump(t, l)
		token := l.HTTP.Token
		again, err := parse([]byte(strings.Replace(first, "token = '"+token.String(), "token = '"+token.Reveal(), 1)))
		if err != nil {
			t.Fatalf("printed, but then refused: %v\n%s", err, first)
		}
		if second := dump(t, again); second != first {
			t.Fatalf("printed\n%s\nthen\n%s", first, second)
		}
	})
}

// parse is Load without files.
func parse(data []byte) (*Loaded, error) {
	l := &Loaded{}
	if _, err := decode(Builtin, configs.Sample, &l.Config); err != nil {
		return nil, err
	}
	places, err := decode("f.toml", data, &l.Config)
	if err != nil {
		return nil, err
	}
	return l, check(&l.Config, "f.toml", places)
}
