# Every target makes its own virtual environment in .venv on a bare machine: Python ≥ 3.11 with venv and
# pip is all that has to be there. The second call finds the stamp files and starts at once.
#
#   make PYTHON=python3.12 test          another interpreter
#   make test PYTEST="-k graphs -x"      further arguments for pytest
#   make test WORKERS=0                  one after another, in one process
#   make slow PART=2/40                  one of 40 parts of the slow tests, about as long as the others
#   make lowest PART=2/40                one of 40 parts of the quick tests with the lowest versions, and a few that are in all parts
#   make slow MUTATIONS="--seed 7"       another sample of mutants
#   make CONSTRAINTS= VENV=.venv-new test    newest versions of everything instead of the pinned ones
#   make UV=uv test                      install with uv, which takes a tenth of the time

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
CONSTRAINTS ?= constraints/dev.txt
PYTEST ?=
MUTATIONS ?=
WORKERS ?= auto --maxprocesses 4
SHARED := --dist loadfile --no-loadscope-reorder
PART ?=
NEWCOMER ?=
EXTRAS ?= dev
UV ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALL := $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(PIP) install) $(addprefix --constraint ,$(CONSTRAINTS))

# Every process would compile our sources anew: twice the time for tests that start processes.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo guide browser web test coverage slow mutations lint format docs wheel newcomer bench constraints lowest proto clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/.core  ## install what simulation needs and make the paper's figure
	$(BIN)/sottovoce demo

# The studio is tested in real browsers. Debian's Chromium and Firefox are installed if there are none and we may;
# without them those tests are skipped, and say so. SOTTOVOCE_BROWSER and SOTTOVOCE_FIREFOX name other ones.
# Playwright cannot drive an earlier Firefox than 153 (tests/e2e/browsers.py).
browser:  ## browsers for the tests of the studio, if there are none yet
	@studio-web/install.sh 0 "$$SOTTOVOCE_BROWSER" chromium chromium-browser google-chrome
	@studio-web/install.sh 153 "$$SOTTOVOCE_FIREFOX" firefox-esr firefox

# Style, types and unit tests of the page, and whether the committed files are what its sources build, bit for bit.
web:  ## everything that Node.js checks of the studio's page; without Node.js it is skipped, and says so
	@studio-web/install.sh 0 "" node && studio-web/check.sh

test: $(VENV)/.dev browser  ## all quick tests, doctests, README and docs examples
	$(BIN)/python -m pytest -n $(WORKERS) $(SHARED) $(PYTEST)

coverage: $(VENV)/.dev browser  ## the same, and which lines they run; half as long again
	$(BIN)/python -m pytest --cov -n $(WORKERS) $(SHARED) $(PYTEST)

ifeq ($(PART),)
slow: $(VENV)/.dev  ## the tests that are left out of `make test`, and ten minutes of mutation testing
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -m slow -n $(WORKERS) $(PYTEST)
	$(BIN)/python -m tests.mutations --minutes 10 $(MUTATIONS)
else
slow: $(VENV)/.dev
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -m slow --part $(PART) --at-most 120 -n $(WORKERS) $(PYTEST)
endif

mutations: $(VENV)/.dev  ## all of mutation testing: do the tests notice mistakes in the code that must be right?
	$(BIN)/python -m tests.mutations $(MUTATIONS)

lint: $(VENV)/.dev web  ## style, types, layers, and the studio's page
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev  ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## the documentation site in docs/_build/html; a warning or a broken link is a failure
	rm -rf docs/_build docs/_generated
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html
	@echo "open docs/_build/html/index.html"

wheel: $(VENV)/.dev  ## what users install, in dist/
	@rm -rf dist && $(PIP) wheel --no-deps --no-build-isolation --wheel-dir dist . && ls dist/*.whl

# README on every Python from 3.11 on that is found here, then all other pages: see tests/newcomer.
newcomer: wheel  ## follow the pages from the wheel, in an empty home, and compare what is printed with what they show
	$(BIN)/python -m tests.newcomer dist/*.whl $(NEWCOMER)

# The part on GPUs needs an NVIDIA device and the extra `gpu`; where there is none it is skipped, and said so.
BENCH ?=
bench: $(VENV)/.dev  ## speed and memory in one run, and the page that shows them; ten minutes
	$(BIN)/python benchmarks/run.py $(BENCH)

constraints:  ## write constraints/dev.txt anew from a clean environment
	rm -rf $(VENV)-pin && $(PYTHON) -m venv $(VENV)-pin
	$(VENV)-pin/bin/python -m pip install --quiet --disable-pip-version-check hatchling editables -e '.[dev]'
	{ sed -n '/^#/p' constraints/dev.txt; \
	  $(VENV)-pin/bin/python -m pip freeze --all --exclude-editable --exclude sottovoce --exclude pip; } > constraints/dev.txt.new
	mv constraints/dev.txt.new constraints/dev.txt && rm -rf $(VENV)-pin

# For Python 3.11, where it is found: the lowest NumPy has nothing for later ones.
OLDEST = $(shell for p in python3.11 $(PYTHON); do $$p -c '' 2>/dev/null && echo $$p && break; done)
# What is in every part: all modules are imported, README is followed, three peers agree.
ALWAYS := README.md tests/foundation/test_system.py tests/e2e/test_average.py
lowest:  ## the quick tests with the lowest versions that pyproject.toml allows
	$(MAKE) test VENV=.venv-lowest PYTHON=$(OLDEST) CONSTRAINTS=constraints/lowest.txt EXTRAS=all,test PART= \
		PYTEST="-W default $(PYTEST) $(if $(PART),--at-most 120 $(ALWAYS) $$($(OLDEST) -m tests.parts $(PART)))"

# An old compiler on purpose: generated code works with its own and later protobuf versions, and protobuf ≥ 5.26 is allowed.
WIRE := src/sottovoce/peer/transport
guide: $(VENV)/.dev  ## compute the numbers of the studio's guide anew
	$(BIN)/python -m sottovoce.studio.guide

proto:  ## write the Python code for the peers' wire format anew
	rm -rf $(VENV)-proto && $(PYTHON) -m venv $(VENV)-proto
	$(VENV)-proto/bin/python -m pip install --quiet --disable-pip-version-check 'grpcio-tools==1.62.3' 'setuptools<81'
	$(VENV)-proto/bin/python -m grpc_tools.protoc -I$(WIRE) --python_out=$(WIRE) --pyi_out=$(WIRE) $(WIRE)/sottovoce.proto
	sed -i 's/, _Mapping\]/, _Mapping[str, object]]/g' $(WIRE)/sottovoce_pb2.pyi
	rm -rf $(VENV)-proto

clean:  ## remove everything that was made here
	rm -rf .venv .venv-* build dist out htmlcov docs/_build docs/_generated .coverage .coverage.* \
		.pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

# -- environments ------------------------------------------------------------------------------------

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "sottovoce needs Python 3.11 or newer; none was found" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "sottovoce needs Python 3.11 or newer; $(PYTHON) is `$(PYTHON) --version 2>&1`" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip' || \
		{ echo "$(PYTHON) has no venv module with pip; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@echo "making $(VENV) with `$(PYTHON) --version`"
	@$(PYTHON) -m venv $(VENV) && touch $@

# The build backend is pinned too, so it is installed first and used without an isolated build.
$(VENV)/.core: $(VENV)/.made pyproject.toml $(CONSTRAINTS)
	@echo "installing sottovoce into $(VENV)"
	@$(INSTALL) hatchling editables && $(INSTALL) --no-build-isolation --editable '.[simulate]' && touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml $(CONSTRAINTS)
	@echo "installing sottovoce and what its developers need into $(VENV)"
	@$(INSTALL) hatchling editables && $(INSTALL) --no-build-isolation --editable '.[$(EXTRAS)]' && touch $@ $(VENV)/.core
