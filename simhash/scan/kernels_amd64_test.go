package scan

// eachKernel runs a test with each kind of kernel that this processor has, by name.
func eachKernel(test func(kernel string)) {
	has, hasWide := vector, wide
	defer func() { vector, wide = has, hasWide }()
	if wide {
		test("avx512")
	}
	wide = false
	if vector {
		test("avx2")
	}
	vector = false
	test("portable")
}
