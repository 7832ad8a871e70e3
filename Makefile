# make without a target lists the targets.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
BIN     := bin/agentperf-tui
PKG     := ./cmd/agentperf-tui
# All packages: ./... would omit those below testdata.
export PACKAGES := $(shell find . -name '*.go' -not -path './.*' -exec dirname {} + | sort -u)

.PHONY: help build quick test golden lint bench soak-fuzz demo dist clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  %-10s %s\n", $$1, $$2}'

build: ## build the static binary bin/agentperf-tui
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) $(PKG)

quick: ## run vet and the short tests, without the race detector
	go vet $$PACKAGES
	go test -short $$PACKAGES

test: ## run all tests with the race detector; as root on Debian, install their packages
	.ci/prepare
	go test -race -timeout 20m $$PACKAGES

golden: ## rewrite the golden files with the current output; review with git diff
	AGENTPERF_GOLDEN=write go test -short -count 1 -run UpToDate ./recipes/schema ./recipes/check # embedded by the others
	AGENTPERF_GOLDEN=write go test -short -count 1 \
		$$(grep -rlE --include='*_test.go' 'golden\.|frametest\.Golden' . | xargs dirname | sort -u)

lint: ## check formatting, vet, staticcheck, lengths and go.mod
	@out=$$(go tool gofumpt -l . testdata); if [ -n "$$out" ]; then echo "not formatted (go tool gofumpt -w . testdata):"; echo "$$out"; exit 1; fi
	go vet $$PACKAGES
	go tool staticcheck $$PACKAGES
	go tool revive -config .revive.toml $$PACKAGES
	@! LC_ALL=C.UTF-8 grep -rnE --include='*.go' '.{121}' . || { echo "lines of more than 120 columns (a tab counts 1)"; exit 1; }
	go mod tidy -diff

bench: ## run benchmarks (output for benchstat)
	go test -run '^$$' -bench . -benchmem -count 6 -timeout 90m ./...

soak-fuzz: ## look for inputs that break a parser; each fuzz target FUZZTIME long (1m)
	.ci/fuzz $(or $(FUZZTIME),1m)

demo: build ## run the whole pipeline on an embedded sample, about a minute
	./$(BIN) demo --headless

dist: ## build static binaries for both node architectures
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags '$(LDFLAGS)' -o dist/agentperf-tui-linux-amd64 $(PKG)
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -trimpath -ldflags '$(LDFLAGS)' -o dist/agentperf-tui-linux-arm64 $(PKG)

clean: ## remove built files
	rm -rf bin dist
