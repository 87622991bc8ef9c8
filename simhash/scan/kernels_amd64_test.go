package scan

// eachKernel runs a test with each kind of kernel that this processor has, by name.
func eachKernel(test func(kernel string)) {
	has := vector
	defer func() { vector = has }()
	if has {
		test("avx2")
	}
	vector = false
	test("portable")
}
