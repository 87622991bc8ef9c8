package nilsimsa

// eachPath runs a test with each way of counting that this processor has, by name.
func eachPath(test func(path string)) {
	has := vector
	defer func() { vector = has }()
	if has {
		test("avx512")
	}
	vector = false
	test("words")
}
