package nilsimsa

import (
	"os"
	"syscall"
	"testing"
)

// No path reads beyond a text: behind it lies a page that cannot be read, before it another.
func TestNothingBeyondIsRead(t *testing.T) {
	page := os.Getpagesize()
	room, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(room)
	inside := room[page : 3*page]
	copy(inside, randomText(13, len(inside)))
	for _, guard := range [][]byte{room[:page], room[3*page:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= 700; n++ {
		for _, text := range [][]byte{inside[:n], inside[len(inside)-n:]} {
			want := Plain(text)
			eachPath(func(path string) {
				if got := Sum(text); got != want {
					t.Errorf("%s, %d bytes: %v, want %v", path, n, got, want)
				}
			})
		}
	}
}
