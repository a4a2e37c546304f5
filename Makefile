# keju: every target does its own set-up on a machine with only Python (3.11 or newer) and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# yes adds jieba and zhconv (GPL-2.0-or-later), which only `official` scores of MCS-Bench need.
OFFICIAL ?= yes
export KEJU_SHARED ?= $(abspath ../shared)

.PHONY: help install install-semantic demo test test-all test-contracts lint texts docs bench dist sbom check-packages clean

help:
	@echo "make demo               real OCR and baselines on the bundled set: scores and a report"
	@echo "make test               the tests of the core: every package and command, without the slow tests"
	@echo "make test-all           every test"
	@echo "make test-contracts     keju beside other programs, each in its own environment; ONLY=name for one"
	@echo "make lint               style, types, import order, sizes"
	@echo "make texts              new sentences of the code into the Chinese catalogues (.po), which are compiled"
	@echo "make docs               the documentation site in build/site/html: guides, references, notebooks"
	@echo "make bench              speed, as ratios within one run"
	@echo "make install            the pinned environment in $(VENV) (no torch)"
	@echo "make install-semantic   adds torch and the encoders, Ray, Inspect and what tests need"
	@echo "make dist               the sdists and wheels in dist/, each built twice with the same bytes"
	@echo "make sbom               the software bill of materials (CycloneDX) in dist/"
	@echo "make check-packages     the wheels of dist/ in fresh environments, one for each extra; needs an index"

install: $(VENV)/.base $(if $(filter yes,$(OFFICIAL)),$(VENV)/.official)
install-semantic: install $(VENV)/.semantic

$(VENV)/.base: requirements/base.lock pyproject.toml $(wildcard packages/*/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "keju needs Python 3.11 or newer; set PYTHON=")'
	@echo "installing the base into $(VENV): the packages of requirements/base.lock (no torch)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/base.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . --editable packages/keju-inspect --editable packages/keju-synthetic
	@echo "installed $$($(BIN)/python -m pip list --disable-pip-version-check 2>/dev/null | tail -n +3 | wc -l) packages, $$(du -sh $(VENV) | cut -f1) in $(VENV)"
	@touch $@

$(VENV)/.official: $(VENV)/.base requirements/official.lock
	@echo "adding jieba and zhconv (GPL-2.0-or-later) for official scores of MCS-Bench; without it: make install OFFICIAL=no"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/official.lock
	@touch $@

$(VENV)/.semantic: $(VENV)/.base requirements/extras.lock requirements/semantic.lock requirements/torch.lock
	@echo "adding the extras and the encoders: requirements/extras.lock, semantic.lock, torch.lock"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/extras.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements/semantic.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements/torch.lock
	@echo "installed $$($(BIN)/python -m pip list --disable-pip-version-check 2>/dev/null | tail -n +3 | wc -l) packages, $$(du -sh $(VENV) | cut -f1) in $(VENV)"
	@touch $@

$(VENV)/.docs: $(VENV)/.base requirements/docs.lock
	@echo "adding Sphinx and Jupyter's kernel: requirements/docs.lock"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/docs.lock
	@touch $@

demo: install
	@$(BIN)/keju demo --out build/demo

# Each process reads the compiled modules of the first one, also where the environment forbids to write them.
test test-all: export PYTHONDONTWRITEBYTECODE :=

test: install
	@$(BIN)/python -m pytest -n auto --dist loadgroup -m "not slow" $(PYTEST_ARGS)

test-all: install
	@$(BIN)/python -m pytest -n auto --dist loadgroup $(PYTEST_ARGS)

test-contracts: install
	@$(BIN)/python -m tools.contracts $(ONLY) $(CONTRACTS_ARGS)

lint: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@for package in packages/*; do (cd $$package && ../../$(BIN)/lint-imports --no-cache) || exit 1; done
	@$(BIN)/python -m tools.size

texts: install $(VENV)/.docs
	@$(BIN)/python -m tools.texts

docs: install $(VENV)/.docs
	@$(BIN)/python -m tools.make_site build/site
	@echo "open build/site/html/index.html"

bench: install
	@for part in $(notdir $(basename $(wildcard benchmarks/*.py))); do echo "== $$part"; $(BIN)/python -m benchmarks.$$part || exit 1; done

dist: install
	@$(BIN)/python -m tools.build_packages dist

sbom: install
	@$(BIN)/python -m tools.make_sbom dist

check-packages: install
	@$(BIN)/python -m tools.check_packages $(CHECK_ARGS)

clean:
	rm -rf $(VENV) .contracts demo-run build dist
