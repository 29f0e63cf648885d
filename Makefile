# StepGap's entry points. `make help` lists them; each one sets up what it needs.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

BUILD := $(CURDIR)/build
BINARY := $(BUILD)/bin/stepgap
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

# Flags for `go test` (TESTFLAGS=-v) and the packages it takes (PKG=./internal/nli/...).
TESTFLAGS ?=
PKG ?= ./...
FUZZTIME ?= 10s
# Flags of `stepgap trial` for `make test-llm` (--stages A, --price-in 0.1, --price-out 0.4).
TRIALFLAGS ?=
# Flags for pytest in `make test-sdk`, and of the benchmark of `make bench-sdk` (--rounds 15).
PYTESTFLAGS ?=
BENCHSDKFLAGS ?=
# The fuzz targets to run, a regular expression; empty: all.
FUZZ ?=
# The container image, and what it is built on (empty: as deploy/Dockerfile says).
IMAGE ?= stepgap:latest
BASE ?=
# The same of the image of GPU workers; it needs CUDA 12 and cuDNN 9.
CUDA_IMAGE ?= stepgap:cuda
CUDA_BASE ?= nvidia/cuda:12.9.1-cudnn-runtime-ubuntu24.04
# The data set that `make test-data` reads; it is not part of the project.
STEPGAP_DATA ?= $(wildcard $(abspath ../shared/data))

# cgo finds libtokenizers.a here; programs and tests find the rest by these.
export CGO_ENABLED := 1
export CGO_LDFLAGS := -L$(BUILD)/lib
export STEPGAP_ORT_LIB ?= $(BUILD)/lib/libonnxruntime.so
export STEPGAP_NLI_MODEL ?= $(BUILD)/models/nli-minilm
export STEPGAP_TOKENIZERS_PYTHON ?= $(BUILD)/python-tokenizers/bin/python
export STEPGAP_METRICS_PYTHON ?= $(BUILD)/python-metrics/bin/python

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: ## native libraries, default NLI model, Go modules (once; then it takes no time)
	@scripts/setup.sh

.PHONY: build
build: setup ## build/bin/stepgap
	@mkdir -p $(BUILD)/bin
	go build -trimpath -buildvcs=false -ldflags '-s -w -X main.version=$(VERSION)' -o $(BINARY) ./cmd/stepgap

.PHONY: demo
demo: build ## example rollouts through all five stages, with their labels
	$(BINARY) demo

.PHONY: test
test: setup ## all tests that need nothing but this checkout
	STEPGAP_DATA= go test -timeout 30m $(TESTFLAGS) $(PKG)

.PHONY: test-data
test-data: setup ## the tests once more with the data set (STEPGAP_DATA=FOLDER)
	@[[ -d "$(STEPGAP_DATA)" ]] || { echo "error: no data set: give its folder as STEPGAP_DATA=FOLDER" >&2; exit 1; }
	STEPGAP_DATA=$(abspath $(STEPGAP_DATA)) go test -timeout 30m $(TESTFLAGS) $(PKG)

.PHONY: test-race
test-race: setup ## all tests under the race detector
	STEPGAP_DATA= go test -timeout 30m -race $(TESTFLAGS) $(PKG)

.PHONY: test-offline
test-offline: setup ## make test again in a network namespace without a network
	@scripts/offline.sh $(MAKE) --no-print-directory test TESTFLAGS='-count=1 $(TESTFLAGS)'

.PHONY: fuzz
fuzz: setup ## each fuzz target for a short while (FUZZTIME=10s FUZZ=REGEXP)
	@TARGETS='$(FUZZ)' scripts/fuzz.sh $(FUZZTIME) $(PKG)

.PHONY: test-llm
test-llm: build ## A, B and C judged by a small real LLM, fetched once (1.1 GB); TRIALFLAGS='--price-in 0.1 ...'
	@scripts/llm/test.sh $(TRIALFLAGS)

.PHONY: bench
bench: build ## steps a second through the pipeline, beside bare JetStream
	@mkdir -p $(BUILD)/report
	$(BINARY) bench --out $(BUILD)/report/bench.json

.PHONY: bench-judge
bench-judge: build ## calls of the judges beside a naive client, on real and generated groups (STEPGAP_DATA=FOLDER)
	@[[ -d "$(STEPGAP_DATA)" ]] || { echo "error: no data set: give its folder as STEPGAP_DATA=FOLDER" >&2; exit 1; }
	@mkdir -p $(BUILD)/report
	$(BINARY) bench-judge --data $(abspath $(STEPGAP_DATA)) --out $(BUILD)/report/bench-judge.json

.PHONY: bench-nli
bench-nli: build ## the NLI worker beside ONNX Runtime, Python workers, CrossEncoder and Infinity (STEPGAP_DATA=FOLDER)
	@[[ -d "$(STEPGAP_DATA)" ]] || { echo "error: no data set: give its folder as STEPGAP_DATA=FOLDER" >&2; exit 1; }
	scripts/bench-nli.sh --data $(abspath $(STEPGAP_DATA))

# A model in the Hugging Face layout and its ONNX file, and flags of `stepgap soak-nli`.
SOAK_MODEL ?= $(STEPGAP_NLI_MODEL)
SOAKFLAGS ?=

.PHONY: soak-nli
soak-nli: build ## a million pairs through the NLI worker, its memory watched (SOAK_MODEL=FOLDER SOAKFLAGS='--pairs 20000')
	@mkdir -p $(BUILD)/report
	STEPGAP_NLI_MODEL=$(abspath $(SOAK_MODEL)) $(BINARY) soak-nli --out $(BUILD)/report/soak-nli.json $(SOAKFLAGS)

.PHONY: eval-nli
eval-nli: build ## accuracy and macro-F1 of the NLI model on held-out and hand-written pairs (STEPGAP_DATA=FOLDER)
	@[[ -d "$(STEPGAP_DATA)" ]] || echo "eval-nli: no data set (STEPGAP_DATA=FOLDER), so the hand-written pairs alone" >&2
	@mkdir -p $(BUILD)/report
	$(BINARY) eval-nli --data "$(if $(STEPGAP_DATA),$(abspath $(STEPGAP_DATA)))" --out $(BUILD)/report/eval-nli.json

# Flags of `stepgap eval matrix` for `make eval` (--llm-url ... --llm-model ..., --set FILE).
EVALFLAGS ?=

.PHONY: eval
eval: build ## how good labels are: systems, baselines, stages removed, on our own steps and public ones (STEPGAP_DATA=FOLDER)
	@[[ -d "$(STEPGAP_DATA)" ]] || echo "eval: no data set (STEPGAP_DATA=FOLDER), so our own steps alone" >&2
	@mkdir -p $(BUILD)/report
	$(BINARY) eval matrix --data "$(if $(STEPGAP_DATA),$(abspath $(STEPGAP_DATA)))" --out $(BUILD)/report/eval $(EVALFLAGS)

.PHONY: test-sdk
test-sdk: build ## the Python SDK: ruff, mypy, pytest against the program (PYTESTFLAGS=-v)
	@STEPGAP_BIN=$(BINARY) scripts/test-sdk.sh $(PYTESTFLAGS)

.PHONY: test-adapters
test-adapters: build ## the SDK's adapters with the trainers' real packages on CPU (0.9 GB once; PYTESTFLAGS=-v)
	@STEPGAP_BIN=$(BINARY) scripts/test-adapters.sh $(PYTESTFLAGS)

.PHONY: bench-sdk
bench-sdk: build ## steps and rewards a second of one Python process, beside raw nats-py
	@python=$$(scripts/python-env.sh sdk/python/requirements.txt); cd sdk/python; PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=src "$$python" \
		bench/bench_sdk.py --bin $(BINARY) --out $(BUILD)/report/bench-sdk.json $(BENCHSDKFLAGS)

.PHONY: repairs
repairs: setup ## repairs found in all real rollouts, beside a hand-checked sample (STEPGAP_DATA=FOLDER)
	@[[ -d "$(STEPGAP_DATA)" ]] || { echo "error: no data set: give its folder as STEPGAP_DATA=FOLDER" >&2; exit 1; }
	STEPGAP_DATA=$(abspath $(STEPGAP_DATA)) STEPGAP_REPORT=$(BUILD)/report go test -count=1 -v -timeout 60m -run RepairsOfRealRollouts ./services/reward-agg

.PHONY: figures
figures: setup ## writes the figures that tests hold the docs to (STEPGAP_DATA=FOLDER)
	@[[ -d "$(STEPGAP_DATA)" ]] || { echo "error: no data set: give its folder as STEPGAP_DATA=FOLDER" >&2; exit 1; }
	STEPGAP_UPDATE=1 STEPGAP_DATA=$(abspath $(STEPGAP_DATA)) go test -count=1 -p 1 -parallel 1 -timeout 30m -run 'Figures|BesideTheAnnotatedSteps|TableOfPolicies' ./internal/judge/local ./internal/check ./services/reward-agg

.PHONY: image
image: build ## container image of every role (IMAGE=NAME, BASE=NAME); see deploy/README.md
	docker build --file deploy/Dockerfile --tag $(IMAGE) $(if $(BASE),--build-arg BASE=$(BASE)) \
		--build-arg VERSION=$(VERSION) --build-arg REVISION=$(shell git rev-parse HEAD) \
		--build-arg CREATED=$(shell git log -1 --format=%cI) .

.PHONY: image-cuda
image-cuda: build ## the same with CUDA, for GPU workers (CUDA_IMAGE=NAME, CUDA_BASE=NAME); see docs/gpu.md
	@scripts/onnxruntime-gpu.sh
	docker build --file deploy/Dockerfile --tag $(CUDA_IMAGE) --build-arg BASE=$(CUDA_BASE) --build-arg ORT=build/lib-gpu \
		--build-arg VERSION=$(VERSION) --build-arg REVISION=$(shell git rev-parse HEAD) \
		--build-arg CREATED=$(shell git log -1 --format=%cI) .

.PHONY: test-compose
test-compose: build ## the image under compose, held against one process; installs Docker (root, apt)
	@BASE=$(BASE) scripts/test-image.sh

.PHONY: lint
lint: setup ## gofmt, go vet, staticcheck, shellcheck, govulncheck
	@scripts/lint.sh

.PHONY: clean
clean: ## remove build/ (the cache of parts stays in the user's cache folder)
	rm -rf $(BUILD)
