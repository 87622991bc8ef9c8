//go:build !amd64

package scan

func eachKernel(test func(kernel string)) { test("portable") }
