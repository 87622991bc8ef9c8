//go:build !amd64

package nilsimsa

func eachPath(test func(path string)) { test("words") }
