# Two commands do everything on a machine with python3 (3.11 or newer, with venv), pip and make:
#   make demo    set up .venv, then show the tool at work on the bundled examples
#   make test    set up .venv, then run the whole suite
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# How often `make fuzz` goes round.
ROUNDS ?= 10

# The areas that `make test-compiled` runs: those of what is compiled.
COMPILED ?= search threads threads_primitives threads_real threads_sight threads_adversarial tasks messages

.PHONY: demo test conformance fuzz test-all test-threads test-compiled conformance-switches check bench clean setup screenshots docs

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Treadle needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip setuptools
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(READY)
	@$(BIN)/treadle demo

# Each area in a process of its own: areas exchange classes of the standard library, and must not see each other's. What
# fails is run a second time with nothing beside it: a test that passes then is named at the end, one that fails fails.
test: $(READY)
	@failed=; alone=; for area in tests/test_*.py tests/*/; do \
	    case $$area in */__pycache__/|tests/programs/) continue;; esac; \
	    echo "== $$area"; $(BIN)/python -m pytest -n 2 $$area && continue; \
	    echo "== $$area: what failed, again and alone"; \
	    if $(BIN)/python -m pytest --last-failed --last-failed-no-failures none -rA $$area; \
	    then alone="$$alone $$area"; else failed="$$failed $$area"; fi; \
	done; \
	command -v chromedriver >/dev/null || echo "left out: tests/browser, because there is no Chromium with chromedriver"; \
	test -z "$$alone" || echo "passed only when run again, alone (see above which):$$alone"; \
	test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

# The pictures of the pages in the docs, made anew by the browser tests.
screenshots: $(READY)
	TREADLE_BROWSER=required TREADLE_SCREENSHOTS=$(CURDIR)/docs/img $(BIN)/python -m pytest tests/browser

# The docs as a site below build/site; a link that leads nowhere is an error.
docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

$(VENV)/.docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

# Every pair of methods of every type in the table of what is harmless, and every hook switched off: takes long.
conformance: $(READY)
	TREADLE_CONFORMANCE=1 $(BIN)/python -m pytest -n 2 tests/threads_sight

# The property tests on new examples, until one fails or ROUNDS are over; `make test` has the same ones every time.
fuzz: $(READY)
	@for round in $$(seq $(ROUNDS)); do for area in tests/*/; do \
	    grep -qs '@given' $$area*.py || continue; echo "== round $$round: $$area"; \
	    $(BIN)/python -m pytest -n 2 -m hypothesis --hypothesis-profile=new $$area || exit 1; \
	done; done

# The suite on every interpreter of 3.11 to 3.14 that is installed, each in its own environment.
test-all:
	sh tests/every_interpreter.sh

# The tests of the runtime with strands on OS threads that hand on a baton, as on free-threaded builds.
test-threads: $(READY)
	TREADLE_STRANDS=threads $(BIN)/python -m pytest -n 2 tests/search tests/threads tests/threads_examples tests/threads_primitives

# What plain threads lose on each interpreter at hand: the tables that the model `gil` is tested against.
conformance-switches:
	for version in 3.11 3.12 3.13 3.14; do \
	    python=$$(ls -d "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$$version.*/bin/python 2>/dev/null | tail -n 1); \
	    test -z "$$python" || "$$python" tests/threads_switching/plain_threads.py || exit 1; \
	done

# The same tests against a wheel, whose search and hot path are compiled where a C compiler is at hand.
test-compiled:
	$(PYTHON) -m venv .venv-compiled
	.venv-compiled/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt '.[dev]'
	cd tests && ../.venv-compiled/bin/python -c "import treadle.search.dpor as m; print('search from', m.__file__)"
	@failed=; for area in $(COMPILED); do \
	    echo "== $$area"; .venv-compiled/bin/python -m pytest -n 2 tests/$$area || failed="$$failed $$area"; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(READY)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .venv-* build dist *.egg-info src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .treadle
