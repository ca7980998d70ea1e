# Front door. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests wait for browsers, databases and API servers a third of the time.
JOBS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --only-binary=:all: -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help install run test rig lint format docs bench clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /|/' | while IFS='|' read -r name text; do printf '  make %-9s %s\n' "$$name" "$$text"; done

$(VENV)/.base: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo 'Installing Pilotage into $(VENV) …'
	@$(PIP) --upgrade 'setuptools>=77' wheel
	@$(PIP) --no-build-isolation -e '.[semantic]'
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo 'Installing what the tests need …'
	@$(PIP) --no-build-isolation -e '.[dev]'
	@touch $@

install: $(VENV)/.base ## build .venv, nothing else

run: $(VENV)/.base ## load the bundled library and serve pages, REST and MCP on loopback
	@$(BIN)/pilotage library import --bundled
	@$(BIN)/pilotage serve

test: $(VENV)/.dev ## lint, types, import law and every test, real components included
	@sh tests/rig/debian.sh
	@test "$$PILOTAGE_REQUIRE_REAL" != 1 || tests/rig/kube/build.sh >/dev/null
	@$(MAKE) --no-print-directory lint
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

rig: ## build the Kubernetes control plane of the tests (Go 1.26; about ten minutes, once per machine)
	@tests/rig/kube/build.sh

lint: $(VENV)/.dev ## format, rules, types, import law
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/ruff check --quiet
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-cache >/tmp/pilotage-imports.$$$$ || { cat /tmp/pilotage-imports.$$$$; exit 1; }; rm -f /tmp/pilotage-imports.*

format: $(VENV)/.dev ## write the code in its form
	@$(BIN)/ruff format --quiet
	@$(BIN)/ruff check --quiet --fix

docs: $(VENV)/.dev ## write docs/reference from the code
	@$(BIN)/python docs/generate.py

bench: $(VENV)/.dev ## measure against peers (minutes); results go to the screen
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean: ## remove everything that was built here
	@rm -rf $(VENV) build dist src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
