# Two commands: `make demo` shows what it does, `make test` checks everything. Both set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What the demo needs, and all that the checks need.
INSTALLED := $(VENV)/.installed
READY := $(VENV)/.ready
# Most of what is installed is never imported, so Python compiles a module when it is first needed.
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check

SOURCES := src tests benchmarks protocol fuzz docs clients deploy lab
# Compiled Python is kept from run to run, whatever the machine says: pytest takes twice as long to start without it.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint types contracts unit tests coverage programs docs bench clean mutants histories clients release

demo: $(INSTALLED)
	$(BIN)/ldptrace demo --out demo

# Style first, because it takes a second; the rest side by side.
test: lint
	$(MAKE) --no-print-directory --jobs=3 types contracts tests

lint: $(READY)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: $(READY)
	$(BIN)/mypy

contracts: $(READY)
	$(BIN)/lint-imports

# The quick tests alone, properties with few examples: an answer in half a minute.
unit: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" --hypothesis-profile quick

tests: $(READY) programs
	$(BIN)/python -m pytest -n auto --dist worksteal

# All tests, with the share of lines that they run; the floor in pyproject.toml can only rise. Before Python 3.12, counting
# lines takes longer than the tests.
coverage: $(READY) programs
	$(BIN)/python -m pytest -n auto --dist worksteal --cov --cov-report=term:skip-covered

# A browser, a database server, Node and Java, which pip does not have. Without them their tests are skipped and counted.
programs:
	@tests/install-programs

# What devices install: the jar, the wheel and the npm package, in `dist/`.
clients: $(READY) programs
	$(BIN)/python clients/build.py

# Everything that a release publishes, in `dist/`, each file installed alone and used once. TAG, if given, must name the version.
release: $(READY) programs
	$(BIN)/python deploy/release.py $(if $(TAG),--tag $(TAG))

docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The site is in $(CURDIR)/site: open site/index.html in a browser. It needs no server, and search works."

# Deliberate faults in the privacy path of both clients, one at a time: the tests must go red for each. Takes minutes.
mutants: $(READY)
	$(BIN)/python tests/mutants/run.py

# Histories of devices, shuffler and curator with faults, and 20 kills of each process; `make test` has some of both.
histories: $(READY)
	LDPTRACE_KILLS=20 $(BIN)/python -m pytest -q tests/shuffler/test_kills.py
	LDPTRACE_HISTORIES=10000 $(BIN)/python -m pytest -q tests/shuffler/test_histories.py

# DATA names a folder with the experiment data; without it the benchmarks run on generated cities.
bench: $(READY)
	$(BIN)/python -m benchmarks $(if $(DATA),--data $(DATA))

# The versions of requirements-dev.txt, of those packages alone that the product itself needs.
$(INSTALLED): pyproject.toml lab/pyproject.toml requirements-dev.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --constraint requirements-dev.txt hatchling editables
	$(PIP) --constraint requirements-dev.txt --no-build-isolation --editable .
	$(BIN)/python -m compileall -q src
	touch $(INSTALLED)

$(READY): $(INSTALLED)
	$(PIP) -r requirements-dev.txt
	$(PIP) --no-deps --no-build-isolation --editable lab
	touch $(READY)

clean:
	rm -rf $(VENV) demo dist site .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
