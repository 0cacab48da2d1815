# One command a job; `make help` lists them.
GO ?= go
STATICCHECK = honnef.co/go/tools/cmd/staticcheck

.DEFAULT_GOAL := help
.PHONY: help need-go build test race lint conformance bench

help: ## list the jobs
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

need-go:
	@command -v $(GO) >/dev/null || { echo "proofplane needs Go $$(awk '/^go /{print $$2}' go.mod) or newer: see https://go.dev/doc/install"; exit 2; }

build: need-go ## build bin/proofplane
	$(GO) build -trimpath -o bin/proofplane ./cmd/proofplane

test: need-go ## run all tests
	$(GO) test -timeout 30m ./...

race: need-go ## run the tests of what is concurrent under the race detector
	$(GO) test -race -timeout 30m ./fixtures/render ./fixtures/plane/assets ./suites/runner ./suites/prover ./suites/matrix ./reports

lint: need-go ## gofmt, go vet, staticcheck
	@files=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$files" ] || { echo "gofmt -w $$files"; exit 1; }
	$(GO) vet ./...
	$(GO) tool $(STATICCHECK) ./...

conformance: build ## judge the reference platform; report in bin/report
	./bin/proofplane run --out bin/report

bench: need-go ## measure on a real tree: PROOFPLANE_TREE=/path/to/checkout make bench
	@[ -n "$$PROOFPLANE_TREE" ] || { echo "make bench needs PROOFPLANE_TREE: the absolute path of a platform's checkout"; exit 2; }
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 30m ./suites
