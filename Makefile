# Every target works in a fresh clone with nothing but Go; "make ci" installs Debian packages and is for CI alone.
.PHONY: build test race lint fuzz bench long release deb ci clean

STATICCHECK = go tool -modfile=.ci/tools/go.mod staticcheck
FUZZTIME   ?= 30
MINUTES    ?= 10

build: ## the program, ./spamsim
	CGO_ENABLED=0 go build -trimpath -o spamsim ./cmd/spamsim

test: ## all tests; those that want a real server say so and skip where it is missing
	go test ./...

race: ## the same under the race detector
	go test -race ./...

lint: ## format, vet, staticcheck
	@test -z "$$(git ls-files '*.go' | xargs gofmt -l | tee /dev/stderr)"
	go vet ./...
	$(STATICCHECK) ./...

fuzz: ## every fuzz target for FUZZTIME seconds
	.ci/fuzz $(FUZZTIME)

bench: ## every benchmark
	go test -run '^$$' -bench . -benchmem ./...

long: ## what takes hours, in pieces that can be resumed; MINUTES of fuzzing a target
	.ci/long $(MINUTES)

release: ## static binaries in dist/, built twice and compared
	.ci/release

deb: ## the Debian package for this machine, in dist/
	.ci/deb

ci: ## what CI runs: only on a disposable machine
	.ci/run

clean:
	rm -rf spamsim dist .ci/cache
