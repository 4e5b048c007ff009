# Every target is what CI does, or a part of it: `make test` is CI.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:

# No VCS stamps: they need a git that trusts this checkout, and change nothing here.
export GOFLAGS := $(strip $(shell go env GOFLAGS) -buildvcs=false)

ROOT        := $(CURDIR)
GOTOOL      := go tool -modfile=$(ROOT)/tools/go.mod
# Modules of their own, for what the library's users should not download.
NESTED      := $(patsubst ./%/go.mod,%,$(shell find . -mindepth 2 -name go.mod -not -path './tools/*' -not -path './.build/*'))
# Allocation guards mean nothing under the race detector: these packages run twice.
UNRACED     := $(sort $(dir $(shell grep -rl --include='*_test.go' '^//go:build !race' .)))
SCHEDULES   ?= 100000

.PHONY: help
help: ## show this
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: test
test: redis java check race allocs schedules nested ## what CI runs: all checks and tests
	@echo "== all green"

.PHONY: redis
redis: ## install redis-server if it is missing
	@echo "== redis-server"
	@scripts/install-redis.sh

.PHONY: java
java: ## install a JDK and Maven if they are missing, for the tests beside Redisson
	@echo "== java"
	@scripts/install-java.sh

.PHONY: check
check: ## go.mod tidy, gofmt, vet, staticcheck, in every module
	@echo "== check"
	@bad=$$(gofmt -l .); if [ -n "$$bad" ]; then echo "not formatted, run make fmt:"; echo "$$bad"; exit 1; fi
	@set -e; for dir in . $(NESTED); do \
		echo "-- $$dir"; cd $(ROOT)/$$dir; \
		go mod tidy -diff; go vet ./...; $(GOTOOL) staticcheck ./...; \
	done

.PHONY: race
race: ## all tests under the race detector, against real servers
	@echo "== race"
	@go test -race -timeout 9m ./...

.PHONY: allocs
allocs: ## the packages with allocation guards once more, without the race detector
	@echo "== allocs"
	@go test -timeout 5m $(UNRACED)

.PHONY: schedules
schedules: ## 100 000 random schedules of the transition function (SCHEDULES=n for more)
	@echo "== schedules"
	@go test ./actors -timeout 9m -run '^TestTransitionSchedules$$' -rapid.checks=$(SCHEDULES) -rapid.nofailfile

.PHONY: nested
nested: ## the tests of the nested modules
	@set -e; for dir in $(NESTED); do echo "== nested: $$dir"; cd $(ROOT)/$$dir; go test -race -timeout 5m ./...; done

.PHONY: interop
interop: redis java ## side by side with real Redisson, longer than in make test, with a table of results
	@cd interop && go test -count=1 -timeout 15m -storm 20s

.PHONY: bench
bench: redis java ## holdfast beside its peers: a table, docs/bench/results.json, charts (BENCH=-short: a minute, into bench/out)
	@cd bench && go run . -out $(if $(BENCH),out,../docs/bench) $(BENCH)

.PHONY: lint
lint: check ## check, and golangci-lint if it is installed
	@echo "== golangci-lint"
	@if command -v golangci-lint >/dev/null; then golangci-lint run ./...; \
	else echo "not installed: skipped (CI does not need it)"; fi

.PHONY: fmt
fmt: ## gofmt everything
	@gofmt -w .

.PHONY: tidy
tidy: ## go mod tidy in every module
	@set -e; for dir in . $(NESTED); do cd $(ROOT)/$$dir; go mod tidy; done
