PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup run example-browser test check bench docs lock clean

help:  ## List what make can do
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[36mmake %-15s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY)  ## Make the virtual environment with everything in it, hash-checked

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "Clew needs Python 3.11, 3.12 or 3.13; $(PYTHON) is $$($(PYTHON) --version). Try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || uv venv --quiet --clear --python $(PYTHON) $(VENV)
	@command -v uv >/dev/null || test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@echo "Installing Clew and its tools into $(VENV) …"
	@UV=$$(command -v uv || echo $(BIN)/uv); \
	  $$UV pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock && \
	  $$UV pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

run: setup  ## See Clew work: two tenants, a window that fills, memories found, a wall that holds
	@$(BIN)/clew demo
	@$(BIN)/clew doctor

example-browser: setup  ## See an agent test a shop in a real browser, and be quicker the second time
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do command -v $$name >/dev/null && exit 0; done; \
	  test "$$(id -u)" = 0 && command -v apt-get >/dev/null || exit 0; \
	  echo "Installing Debian's chromium …"; \
	  { apt-get update && apt-get install --yes --no-install-recommends chromium; } >/dev/null 2>&1 || true
	@PYTHONPATH=examples $(BIN)/python -m browser_tester

test: check  ## Check the code, then run every test against a real PostgreSQL
	@$(BIN)/pytest -n 3 --dist loadfile

check: setup  ## Lint, format, types, and who may import whom
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo --no-cache

bench: setup  ## Measure what docs/benchmarks.md reports
	@for b in benchmarks/*.py; do echo "== $$b"; $(BIN)/python $$b || exit 1; done

docs: setup  ## Build the documentation into site/
	@$(BIN)/mkdocs build --strict --quiet && echo "Open site/index.html"

lock:  ## Pin every dependency again, with hashes and no index address
	@uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-emit-index-url --no-header --quiet --output-file requirements.lock

clean:  ## Remove the virtual environment and what the tools left behind
	@rm -rf $(VENV) site build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
