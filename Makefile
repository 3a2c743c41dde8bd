# Two commands: `make demo` shows what it does, `make test` checks everything. Both set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint types contracts unit bench clean

demo: $(READY)
	$(BIN)/ldptrace demo --out demo

test: lint types contracts unit

lint: $(READY)
	$(BIN)/ruff check src tests benchmarks protocol fuzz
	$(BIN)/ruff format --check src tests benchmarks protocol fuzz

types: $(READY)
	$(BIN)/mypy

contracts: $(READY)
	$(BIN)/lint-imports

unit: $(READY)
	$(BIN)/python -m pytest -n auto

# DATA names a folder with the experiment data; without it the benchmarks run on generated cities.
bench: $(READY)
	$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA))

$(READY): pyproject.toml requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(READY)

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
