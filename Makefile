# make demo   set everything up and walk          make test   set everything up: style, types and tests
# make lint   style and types alone               make bench  measure strut against its peers
# make docs   the documentation as a site         make test-slow   what takes minutes each and is left out of make test
# make wheel  a package with modules for live pages of the ready-made machines; needs clang and lld, or ziglang
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test test-slow lint bench docs modules wheel clean

demo: $(VENV)/installed
	$(BIN)/python examples/demo.py

test: lint
	$(BIN)/python -m pytest -n auto

test-slow: $(VENV)/installed-dev
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check src tests examples bench
	$(BIN)/mypy

bench: $(VENV)/installed-bench
	$(BIN)/python -m bench

modules: $(VENV)/installed
	$(BIN)/python -c "from strut import walkers; from strut.cli.run import OWN_METHODS; \
	from strut.live.prebuild import prebuild_all; \
	prebuild_all({**walkers.CATALOGUE, **walkers.ROBOTS}, OWN_METHODS)"

wheel: modules
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

docs: $(VENV)/installed-docs
	$(BIN)/mkdocs build --strict
	@echo "Open build/site/index.html"

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	@touch $@

$(VENV)/installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/installed

$(VENV)/installed-bench: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

$(VENV)/installed-docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) build demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
