# gallette. `make help` lists what can be done; every target creates .venv first if it is missing.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Compiled modules are kept: tests start many processes, and each worker reads every test.
unexport PYTHONDONTWRITEBYTECODE

# Versions that pip has to keep to: CONSTRAINTS=.ci/constraints.txt is what CI installs.
CONSTRAINTS ?=
ifneq ($(CONSTRAINTS),)
export PIP_CONSTRAINT := $(abspath $(CONSTRAINTS))
export PIP_BUILD_CONSTRAINT := $(PIP_CONSTRAINT)
endif

.DEFAULT_GOAL := help
.PHONY: help conformance piglit test lint types unit clients clients-all gallery browser docs docs-test fuzz bombs mutants dist lock installed format bench captures clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(READY): pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

# What a target needs beside the tests is installed once.
$(VENV)/.with-%: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$*]'
	@touch $@

conformance: $(READY)  ## bundled tests on numpipe, then multi-pass diffs; prints the path of the report
	$(BIN)/gallette conformance

PIGLIT ?= /usr/lib/x86_64-linux-gnu/piglit
LIST   ?=
PIGLIT_TESTS = $(if $(LIST),--tests-list $(LIST),) $(PIGLIT)/tests $(PIGLIT)/generated_tests
piglit: $(READY)  ## piglit's shader_tests (all, or LIST=file) on native GL and numpipe; pass rates by version
	@test -d $(PIGLIT)/tests || { echo "no piglit in $(PIGLIT) (PIGLIT=folder names another)"; exit 2; }
	@for driver in native numpipe; do \
	    folder=reports/piglit/$$driver; \
	    if [ -s $$folder/results.jsonl ]; then what="--resume $$folder"; \
	    else what="$(PIGLIT_TESTS) --driver $$driver -o $$folder"; fi; \
	    $(BIN)/gallette piglit run $$what || [ $$? = 1 ] || exit $$?; \
	done
	$(BIN)/gallette piglit summary --versions reports/piglit/native reports/piglit/numpipe --html reports/piglit

test: $(READY)  ## lint, types and all tests, in parallel
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -j 2 types unit

lint: $(READY)  ## style: ruff check and ruff format --check
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .

types: $(READY)  ## mypy --strict over the whole tree
	$(BIN)/mypy

unit: $(READY)  ## pytest, one worker per core
	$(BIN)/python -m pytest -q -n auto --dist worksteal

DRIVER ?= numpipe
clients: $(VENV)/.with-clients  ## other people's OpenGL programs on gallette (DRIVER=numpipe), compared with llvmpipe's pictures
	GALLETTE_REQUIRE_CLIENTS=1 GALLETTE_DRIVER=$(DRIVER) $(BIN)/python -m pytest -q -n auto --dist worksteal tests/clients

clients-all: $(READY)  ## programs of Debian (installed by apt-get, as root) on gallette, compared with llvmpipe's pictures
	$(BIN)/python -m tests.clients.debian --install

gallery: $(VENV)/.with-clients  ## a page of what those programs draw on gallette and on llvmpipe
	$(BIN)/python -m tests.clients.gallery -o reports/clients

browser: $(VENV)/.with-browser  ## the pages of `gallette inspect` and `explore` in Chromium
	GALLETTE_REQUIRE_BROWSER=1 $(BIN)/python -m pytest -q -n auto --dist worksteal -m browser tests/inspector

docs: $(VENV)/.with-docs $(VENV)/.with-browser  ## the documentation as a site, with live pages: build/docs/index.html
	rm -rf build/live build/docs
	$(BIN)/python docs/live_pages.py build/live/live
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -b html docs build/docs
	$(BIN)/python docs/check_site.py build/docs
	@echo "site: $(CURDIR)/build/docs/index.html"

docs-test: docs  ## the site in a browser, and every command that the documentation shows
	GALLETTE_SITE=build/docs GALLETTE_DOCS=1 GALLETTE_REQUIRE_BROWSER=1 $(BIN)/python -m pytest -q -n auto \
	    tests/tools/test_docs_commands.py tests/inspector/test_site.py

# How many cases of what: the same ones on every machine.
define FUZZERS
glsl-text --count 3000
glsl-programs --count 120
glsl-programs --driver numpipe --native --count 90
gl --first 20000 --count 40
gl --kind fixed --first 2000 --count 40
gl --kind modern --first 1000 --count 30
gl --kind beside --first 3000 --count 10
gl --kind shared --first 4000 --count 40
gl --kind threads --first 5000 --count 12
hostile --driver numpipe --count 20
hostile --driver jit --count 20
captures --count 250
program-binaries --count 2500
spirv-names --count 120
endef
export FUZZERS
fuzz: $(READY)  ## random OpenGL, GLSL, hostile programs, captures and names, two kinds at a time
	@echo "$$FUZZERS" | xargs -P 2 -I{} sh -c 'said=$$($(BIN)/python -m fuzz {} 2>&1); \
	    failed=$$?; echo "fuzz {}: $$said"; exit $$failed'

SECONDS ?= 30
bombs: $(READY)  ## SECONDS=30 of constructs that grow: what takes a compiler or a draw too long or too much memory?
	$(BIN)/python -m fuzz compile-bombs --seconds $(SECONDS) --order 1

COUNT ?= 400
SEED  ?= 1
mutants: $(READY)  ## plant COUNT=400 small faults (SEED=1), one by one: does the suite notice?
	$(BIN)/python bench/mutate.py --count $(COUNT) --seed $(SEED)

dist: $(READY)  ## source archive, wheel and the list of what they need (CycloneDX) in dist/; the same bytes each time
	$(BIN)/python .ci/dist.py dist

lock:  ## resolve the versions that CI installs anew: .ci/constraints.txt (Python 3.11)
	rm -rf build/lock
	$(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check --dry-run --ignore-installed \
	    --report build/lock/report.json -e '.[dev,clients,browser,docs]'
	build/lock/bin/python .ci/lock.py build/lock/report.json >build/lock/constraints.txt
	mv build/lock/constraints.txt .ci/constraints.txt

installed:  ## build the wheel, install it outside the checkout, and use it there
	PYTHON=$(PYTHON) .ci/installed

format: $(READY)  ## rewrite the tree in the house format
	$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format --quiet .

bench: $(READY)  ## time scenes against native drivers, side by side
	$(BIN)/gallette bench --against softpipe,llvmpipe

captures: $(VENV)/.with-clients  ## record other people's programs, and time their last frames on jit and llvmpipe
	$(BIN)/python -m tests.clients.captures -o build/captures
	$(BIN)/gallette bench --captures build/captures --driver jit --against llvmpipe

clean:  ## remove .venv, caches and reports
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache build *.egg-info reports
