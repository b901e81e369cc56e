# Works on a fresh machine with Python >= 3.11 and pip: `make train`, `make test`.
#
#   PYTHON=...  the interpreter of the virtual environment
#   VENV=...    its folder (in your own environment, missing packages are installed)
#   JOBS=...    test processes
#   ARGS=...    passed on, for example `make train ARGS="seed=1"`, `make test ARGS="-k setup"`

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
ARGS ?=

RUN := $(VENV)/bin/python
# Shares of the slow tests; .ci/run runs one, after each commit the next.
SHARES ?= 240
SHARE = $$(( $$(git rev-list --count HEAD 2>/dev/null || echo 0) % $(SHARES) + 1 ))
# Pages of docs/reference/ with the module that prints each.
PAGES := tools.observation_page:observation tools.rulesets_page:rulesets \
  tools.factions_page:factions tools.names_page:names tools.zoo_page:zoo \
  tools.configuration_page:configuration tools.glossary_page:glossary
# One stamp for each set of extras; rebuilt when pyproject.toml changes.
STAMP := $(VENV)/.gaia_jax

.PHONY: help train play test test-fast test-browser test-slow test-share test-all bench accelerator accelerator-plan lint format pages check-pages agent-pages docs clean
.DEFAULT_GOAL := help

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' Makefile

train: $(STAMP)-train ## Train configs/quick.yaml and evaluate the result
	$(RUN) -m training.train --config configs/quick.yaml $(ARGS)

play: $(STAMP)-play ## Serve the table in the browser
	$(RUN) -m training.play $(ARGS)

PYTEST := $(RUN) -m pytest -q -n $(JOBS) --dist worksteal

test: $(STAMP)-dev ## Run the fast tests: neither slow nor in a browser
	$(PYTEST) -x -m "not slow and not browser" $(ARGS)

test-fast: $(STAMP)-dev ## Run the tests that compile nothing, under a minute
	$(RUN) -m pytest -x -q -m "no_compile and not slow" $(ARGS)

test-browser: $(STAMP)-dev ## Run the fast tests in a browser (Chromium)
	$(PYTEST) -m "browser and not slow" $(ARGS)

test-slow: $(STAMP)-dev ## Run the slow tests
	$(PYTEST) -m slow $(ARGS)

test-share: $(STAMP)-dev ## Run one share of the slow tests, a minute or two
	$(PYTEST) -m slow --splits $(SHARES) --group $(SHARE) \
	  --splitting-algorithm least_duration $(ARGS)

test-all: $(STAMP)-dev ## Run all tests
	$(PYTEST) $(ARGS)

bench: $(STAMP)-bench ## Measure throughput next to other environments, into runs/throughput.json
	$(RUN) -m benchmarks.throughput --json runs/throughput.json $(ARGS)

accelerator: $(STAMP)-bench ## Measure one accelerator, at most nine minutes, into runs/accelerator.json
	$(RUN) -m benchmarks.accelerator --json runs/accelerator.json $(ARGS)

accelerator-plan: $(STAMP)-bench ## Run the whole plan of a session with an accelerator, into runs/plan
	$(RUN) -m benchmarks.accelerator_plan --out runs/plan $(ARGS)

lint: $(STAMP)-dev ## Lint, format check, import layers, unused names, types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	PYTHONPATH=. $(VENV)/bin/lint-imports --no-cache --no-logo
	$(VENV)/bin/vulture
	$(RUN) -m mypy

format: $(STAMP)-dev ## Format, and fix what the linter can
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

pages: $(STAMP)-dev ## Generate the pages of docs/reference/ from code
	set -e; for made in $(PAGES); do \
	  page=docs/reference/$${made##*:}; \
	  $(RUN) -m $${made%%:*} > $$page.md.new; \
	  mv $$page.md.new $$page.md; \
	done

check-pages: pages ## Fail if a generated page is outdated
	git diff --exit-code -- docs/reference

agent-pages: $(STAMP)-dev ## Measure new shipped agents and update their numbers in the docs
	$(RUN) -m tools.agent_pages $(ARGS)

docs: $(STAMP)-docs ## Build the documentation into site/, warnings as errors
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict $(ARGS)

clean: ## Remove the environment, caches and distributions (not runs/)
	rm -rf .venv .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis dist build site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP)-train: EXTRA = [train]
$(STAMP)-play: EXTRA = [play]
$(STAMP)-dev: EXTRA = [dev]
$(STAMP)-bench: EXTRA = [bench]
$(STAMP)-docs: EXTRA = [docs]

# Without --no-compile, pip takes a minute more.
$(STAMP)-%: pyproject.toml | $(RUN)
	$(RUN) -m pip install --quiet --disable-pip-version-check --no-compile --editable '.$(EXTRA)'
	@touch $@

# Some distributions ship Python without ensurepip: then the interpreter's own pip fills the new
# environment.
$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + \
	  sys.version.split()[0] + ": name another, make PYTHON=...") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV) || { \
	  $(PYTHON) -m venv --clear --without-pip $(VENV) && \
	  $(PYTHON) -m pip --python $(RUN) install --quiet pip; }
