# Everything that a person or CI does. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CLUSTER := $(PYTHON) tests/cluster/harness
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
ON_CLUSTER = $(CLUSTER) exec -- $(abspath $(BIN))/python -m pytest -q --durations=10
define on_cluster
@status=0; \
  $(ON_CLUSTER) -n 3 --dist loadfile -m 'not alone and $(1)' tests/cluster && \
  $(ON_CLUSTER) -m 'alone and $(1)' tests/cluster || status=$$?; \
  [ -n "$$PROCTOR_TEST_CLUSTER_KEEP" ] || $(CLUSTER) down; exit $$status
endef
SOURCES := operator/src tests benchmarks sandbox-image

.DEFAULT_GOAL := help
.PHONY: help demo test test-containers test-clients check generate images cluster-up cluster-down test-cluster test-sandbox bench clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is older than 3.11: name a newer one, such as make PYTHON=python3.12 …" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make a virtual environment: install its venv module (Debian: python3-venv)" >&2; exit 2; }

$(VENV)/installed-cli: pyproject.toml constraints.txt | $(BIN)/python
	@echo "installing Proctor into $(VENV) …"
	@$(PIP) --upgrade pip
	@$(PIP) --editable '.[cli]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed-cli
	@echo "installing what the tests need …"
	@$(PIP) --editable '.[cli,operator,gateway,results,runner]' --group dev
	@touch $@

demo: $(VENV)/installed-cli ## Run an evaluation here: no key, no cluster, no network
	@$(BIN)/proctor run examples/demo --output results/demo-$$(date -u +%Y%m%dT%H%M%S); \
	  status=$$?; [ $$status -le 1 ] || exit $$status

test: $(VENV)/installed-dev ## Run the tests that need no cluster
	@$(BIN)/python -m pytest -q -n 2

test-containers: $(VENV)/installed-dev ## Run trials in containers of podman (root, Debian: installs it)
	@$(CLUSTER) install
	@$(PYTHON) tests/cluster/images runner default testbed >/dev/null
	@PROCTOR_TEST_PODMAN=required $(BIN)/python -m pytest -q --durations=10 tests/contract/test_engine.py tests/containers

test-clients: $(VENV)/installed-dev ## Test the gateway with the real Claude Code and Codex (needs npm)
	@$(BIN)/python -m pytest -q tests/clients

check: $(VENV)/installed-dev ## Lint, types, layers, generated files
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m proctor.schema --check

generate: $(VENV)/installed-dev ## Write CRDs, JSON Schemas and reference pages from the models
	@$(BIN)/python -m proctor.schema

images: ## Build the container images as archives, and values for Helm: make images REGISTRY=…
	@$(PYTHON) tests/cluster/images --values build/images.yaml $(if $(REGISTRY),--registry $(REGISTRY))

cluster-up: ## Start a real Kubernetes node in namespaces of its own (root, Debian)
	@$(CLUSTER) install
	@$(CLUSTER) build --with kube-router
	@$(CLUSTER) up --with kube-router

cluster-down: ## Stop it; nothing is left behind
	@$(CLUSTER) down

test-cluster: $(VENV)/installed-dev test-clients cluster-up images ## Install the chart and test through the API
	$(call on_cluster,not sandbox)

test-sandbox: $(VENV)/installed-dev cluster-up images ## Attack it: hostile and honest agents, networks, policies
	$(call on_cluster,sandbox)

bench: $(VENV)/installed-dev ## Measure: start of the phases, cost of the gateway
	@for script in benchmarks/*/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean: ## Remove what was installed and built here
	rm -rf $(VENV) results dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
