# SPDX-License-Identifier: Apache-2.0

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP_QUIETLY := pip --quiet --disable-pip-version-check
PIP := $(BIN)/python -m $(PIP_QUIETLY)

PORT ?= 1234
HOSTS ?= 4
STATE_DIR ?= .state

# The lanes of tests, and the selection among them.
LANES := $(BIN)/python -m tools.lanes
CHOICE = $(patsubst %,--only '%',$(ARGS)) $(if $(SHARD),--shard '$(SHARD)') $(if $(TOUCHED),--touched)

# The directory of the test cloud. HOSTS=, if given, also sets the number of its hosts.
CLOUD_DIR ?= .cloud
CLOUD := $(PYTHON) -m tools.cloud --dir '$(CLOUD_DIR)'
ON_CLOUD = CLIMATE_CLOUD_DIR='$(abspath $(CLOUD_DIR))' $(LANES) cloud

# pbr reads the version from git. Outside a clone, or without git, it needs this one.
ifneq ($(shell test "$$(git rev-parse --show-toplevel 2>/dev/null)" = "$$(pwd -P)" && echo clone),clone)
export PBR_VERSION ?= 0.0.1
endif

# The tested versions, with their hashes. For an index that lacks them, CONSTRAINTS=
# installs the latest versions that the requirements allow.
CONSTRAINTS ?= constraints.txt
LOCKED := $(BIN)/python tools/locked.py
# $(call install,FILES AND PACKAGES)
define install
$(if $(CONSTRAINTS),$(LOCKED) $(1) > $@.txt && $(PIP) install --require-hashes --requirement $@.txt \
    || { echo 'If the index lacks a version of constraints.txt: use "make CONSTRAINTS= ..."'; exit 1; },\
    $(PIP) install $(foreach each,$(1),$(if $(filter %.txt,$(each)),--requirement )$(each)))
endef

# These files record what is installed; packages are installed again only when a list
# of requirements changes.
SERVICE := $(VENV)/service.installed
TESTS := $(VENV)/tests.installed
DOCS := $(VENV)/docs.installed
LOWEST := $(VENV)/lowest
CLIENT := lark python-dateutil python-openstackclient
COMPILE := $(BIN)/uv pip compile --quiet --universal --upgrade --python-version 3.11 \
    --custom-compile-command 'make constraints'
ALL_REQUIREMENTS := requirements.txt build-requirements.txt test-requirements.txt
# What a test installs for itself.
GENERATORS := tests/exhaustive/generators/requirements

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@echo 'make run [PORT=1234] [HOSTS=4] [STATE_DIR=.state]'
	@echo 'make cloud-up [CLOUD_DIR=.cloud] [HOSTS=9] [PORTS=15000|auto]'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo '$(PYTHON) is too old: Climate needs Python 3.11 or later (PYTHON=...)'; exit 1; }
	@echo 'Creating $(VENV)'
	@$(PYTHON) -m venv $(VENV)

$(SERVICE): requirements.txt build-requirements.txt constraints.txt setup.cfg setup.py pyproject.toml | $(BIN)/python
	@echo 'Installing Climate and the command openstack (a minute or two, once)'
	@$(call install,requirements.txt build-requirements.txt $(CLIENT))
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(TESTS): test-requirements.txt $(SERVICE)
	@echo 'Installing the requirements of the tests'
	@$(call install,test-requirements.txt)
	@touch $@

$(DOCS): doc/requirements.txt $(SERVICE)
	@echo 'Installing the requirements of the documentation'
	@$(call install,doc/requirements.txt)
	@touch $@

$(LOWEST)/installed: lower-constraints.txt setup.cfg setup.py pyproject.toml | $(BIN)/python
	@echo 'Installing the oldest versions that requirements allow'
	@$(PYTHON) -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m $(PIP_QUIETLY) install --no-deps --requirement lower-constraints.txt
	@$(LOWEST)/bin/python -m $(PIP_QUIETLY) install --no-deps --no-build-isolation --editable .
	@touch $@

$(BIN)/uv: | $(BIN)/python
	@$(PIP) install uv

.PHONY: run
run: $(SERVICE) ## Start the whole service on 127.0.0.1 with a simulated cloud
	@exec $(BIN)/climate-standalone --host 127.0.0.1 --port $(PORT) \
	    --state-dir '$(STATE_DIR)' --hosts $(HOSTS)

.PHONY: demo
demo: $(SERVICE) ## Show a whole lease in under a minute (USE_CASE=server|hosts|volume|stack)
	@exec $(BIN)/python tools/demo.py $(USE_CASE)

.PHONY: test
test: $(TESTS) ## Run the tests that every change must pass (ARGS='regular expression' selects some)
	@$(LANES) unit contract functional $(CHOICE)

.PHONY: unit
unit: $(TESTS) ## Run the tests that need only Python
	@$(LANES) unit $(CHOICE)

.PHONY: lowest
lowest: $(LOWEST)/installed ## Run the unit tests with the oldest versions that requirements allow
	@$(LOWEST)/bin/python -m tools.lanes unit --only '^(?!tests\.unit\.test_(samples|imports)\b)'

.PHONY: constraints
constraints: $(BIN)/uv ## Regenerate constraints.txt and the other lists of tested versions
	$(COMPILE) --generate-hashes --output-file constraints.txt $(ALL_REQUIREMENTS) doc/requirements.txt
	$(COMPILE) --resolution lowest-direct --output-file lower-constraints.txt $(ALL_REQUIREMENTS)
	$(COMPILE) --generate-hashes --constraint constraints.txt \
	    --output-file $(GENERATORS).txt $(GENERATORS).in

.PHONY: contract
contract: $(TESTS) ## Run the tests of every implementation of an interface
	@$(LANES) contract $(CHOICE)

.PHONY: functional
functional: $(TESTS) ## Run the tests from HTTP to SQL
	@$(LANES) functional $(CHOICE)

.PHONY: exhaustive
exhaustive: $(TESTS) ## Run the tests that take many minutes (SHARD=1/16 runs a sixteenth)
	@$(LANES) exhaustive $(CHOICE)

.PHONY: test-all
test-all: $(TESTS) ## Run all tests, including those on a real cloud
	@status=0; \
	$(LANES) unit contract functional exhaustive $(CHOICE) || status=1; \
	$(MAKE) cloud-up && $(MAKE) cloud-test || status=1; \
	exit $$status

.PHONY: lanes
lanes: $(TESTS) ## Count the tests, and record the duration of their last run
	@$(BIN)/python -m tools.lanes.table

.PHONY: cloud-install
cloud-install: ## Install the requirements of a real OpenStack without starting it
	@$(CLOUD) install

.PHONY: cloud-up
cloud-up: ## Start a real OpenStack with Climate
	@$(CLOUD) up $(if $(filter command environment,$(origin HOSTS)),--hosts '$(HOSTS)') \
	    $(if $(PORTS),--ports '$(PORTS)')

.PHONY: cloud-down
cloud-down: ## Stop it (WIPE=1 deletes its data)
	@$(CLOUD) down $(if $(WIPE),--wipe)

.PHONY: cloud-status
cloud-status: ## Show its processes with ports and memory
	@$(CLOUD) status

.PHONY: cloud-is-up
cloud-is-up: ## Fail unless it is up
	@$(CLOUD) status > /dev/null \
	    || { echo 'The cloud in $(CLOUD_DIR) is not up: run make cloud-up first'; exit 1; }

.PHONY: cloud-test
cloud-test: cloud-is-up $(TESTS) ## Run the tests that need it (ARGS; SHARD=1/16 for smoke and a sixteenth)
	@$(ON_CLOUD) $(CHOICE)

.PHONY: cloud-smoke
cloud-smoke: cloud-is-up $(TESTS) ## Run the few of them that every change must pass
	@$(ON_CLOUD) --only '\[.*\bsmoke\b'

.PHONY: cloud-bench
cloud-bench: $(TESTS) ## Run the benchmarks on it (ARGS is passed on)
	@exec $(BIN)/python -m benchmarks.cloud --cloud-dir '$(CLOUD_DIR)' $(ARGS)

.PHONY: lint
lint: $(TESTS) ## Check for likely bugs and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml climate
	$(BIN)/hadolint deploy/Containerfile

.PHONY: format
format: $(TESTS) ## Fix what lint can fix automatically
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: types
types: $(TESTS) ## Check the types, strictly in the pure core
	$(BIN)/mypy
	$(BIN)/mypy --no-warn-unused-configs --strict climate/domain climate/allocation

.PHONY: cover
cover: $(TESTS) ## Run make test and report its coverage
	$(BIN)/coverage erase
	PYTHON='$(BIN)/coverage run --parallel-mode' $(LANES) unit contract functional $(CHOICE)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report

.PHONY: docs
docs: $(DOCS) ## Build the documentation into doc/build/html
	$(BIN)/sphinx-build -q -W --keep-going -b html doc/source doc/build/html

.PHONY: api-ref
api-ref: $(DOCS) ## Build the API reference into api-ref/build/html
	$(BIN)/sphinx-build -q -W --keep-going -b html api-ref/source api-ref/build/html

.PHONY: api-samples
api-samples: $(TESTS) ## Regenerate the examples of the API reference
	CLIMATE_WRITE_API_SAMPLES=1 $(BIN)/python -m testtools.run tests.functional.test_api_samples

.PHONY: releasenotes
releasenotes: $(DOCS) ## Build the release notes (needs a clone)
	$(BIN)/sphinx-build -q -W --keep-going -b html releasenotes/source releasenotes/build/html

.PHONY: genconfig
genconfig: $(SERVICE) ## Regenerate etc/climate/climate.conf.sample
	$(BIN)/python -m tools.sample

.PHONY: genpolicy
genpolicy: $(SERVICE) ## Regenerate etc/climate/policy.yaml.sample
	$(BIN)/oslopolicy-sample-generator --config-file etc/climate/climate-policy-generator.conf

.PHONY: bench
bench: $(TESTS) ## Run the benchmarks (ARGS is passed on)
	@exec $(BIN)/python -m benchmarks.core $(ARGS)

.PHONY: web-install
web-install: web/node_modules/.package-lock.json ## Install what builds and tests the web page (needs Node.js and npm)

.PHONY: web
web: web/node_modules/.package-lock.json ## Build the web page into climate/web/static
	@cd web && node build.mjs

.PHONY: web-test
web-test: web/node_modules/.package-lock.json $(TESTS) ## Test the web page in a browser
	@$(BIN)/python -m testtools.run tests.functional.test_page tests.functional.test_page_links

web/node_modules/.package-lock.json: web/package-lock.json
	@cd web && npm ci --no-audit --no-fund
	@touch $@

.PHONY: clean
clean: ## Remove all generated files except the state of make run
	rm -rf $(VENV) .stestr .hypothesis .mypy_cache .ruff_cache .coverage .coverage.* cover \
	    build dist *.egg-info doc/build api-ref/build releasenotes/build AUTHORS ChangeLog
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
