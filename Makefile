# The environment is made once and again whenever its description changes.
PYTHON ?= python3
VENV := .venv
PEER := .venv-peer
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEER_READY := $(PEER)/.ready
CHROMA := .venv-chroma
CHROMA_READY := $(CHROMA)/.ready
# One more than the cores of a small machine: tests of the console mostly wait.
JOBS ?= 3

.PHONY: test lint types demo screenshots interop bench bench-large clean

# Ratios of speed are taken last and alone: beside other tests they would measure those.
test: lint types
	$(BIN)/python -m pytest -n $(JOBS) -m "not peer and not bench" --ignore tests/perf
	$(BIN)/python -m pytest -m "not peer and not bench" tests/perf

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY)
	$(BIN)/mypy

demo: $(READY)
	$(BIN)/signoff demo

screenshots: $(READY)
	$(BIN)/python -m screenshots.make

interop: $(READY) $(PEER_READY) $(CHROMA_READY)
	SIGNOFF_PEER=$(abspath $(PEER))/bin/python SIGNOFF_CHROMA=$(abspath $(CHROMA))/bin/python \
		$(BIN)/python -m pytest -n $(JOBS) -m "peer and not bench" tests/interop

bench: $(READY) $(PEER_READY)
	$(BIN)/python -m pytest -m bench -s tests/perf
	SIGNOFF_PEER=$(abspath $(PEER))/bin/python $(BIN)/python -m pytest -m bench -s tests/interop

bench-large: $(READY)
	SIGNOFF_LARGE=1 $(BIN)/python -m pytest -m bench -s tests/perf/test_search.py -k 1_000_000

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# The real agent and the real chromadb, each in an environment of its own: their pins must not meet.
$(PEER_READY): Makefile
	$(PYTHON) -m venv $(PEER)
	$(PEER)/bin/python -m pip install --quiet --disable-pip-version-check hermes-agent==0.19.0
	touch $@

$(CHROMA_READY): Makefile
	$(PYTHON) -m venv $(CHROMA)
	$(CHROMA)/bin/python -m pip install --quiet --disable-pip-version-check chromadb==1.5.9
	touch $@

clean:
	rm -rf $(VENV) $(PEER) $(CHROMA) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
