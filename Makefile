# One command each. Everything is installed into .venv, once, and again when pyproject.toml or a lock changes:
# for `make serve` what serving needs, for all others what tests and checks need, too.

VENV := .venv
BIN := $(VENV)/bin
SERVING := $(VENV)/.serving
READY := $(VENV)/.ready
DOCS := $(VENV)/.docs
CONFORMANCE ?= ../shared/conformance

UI_FILES := $(shell find ui \( -name node_modules -o -name dist -o -name openapi.json \) -prune -o -type f -print) hatch_build.py
UI_PACKAGES := ui/node_modules/.package-lock.json
UI_BUILT := src/mnemoir/server/static/index.html
UI_TYPES := ui/src/shared/api/schema.d.ts

# several processes of pytest, each with its own share of the files
TESTS := $(BIN)/python -m tests.shards

.PHONY: help setup serve ui ui-dev ui-types ui-lint ui-test browser screenshots test test-slow test-times test-late test-clients lock-clients lock audit wheel release-check docs lint bench conformance clean

help:
	@echo "make serve   set up and serve on 127.0.0.1:6060    (options: make serve ARGS='--port 8000')"
	@echo "             (where the locked packages do not fit your platform: make serve LOCKED=no)"
	@echo "make test    run the tests of all behaviour        (options: make test ARGS='-k settings')"
	@echo "make test-slow  the tests that kill, damage, grow and look at every case  (ARGS likewise)"
	@echo "make test-times  record how long each file of tests takes, by which they are shared out"
	@echo "make test-late  by hand: the browser tests with late answers and a slow processor"
	@echo "make test-clients  run released clients against real servers (one: make test-clients ARGS=openai)"
	@echo "make lock-clients  renew the locks of those clients' environments"
	@echo "make lock    renew the locks of all Python dependencies"
	@echo "make audit   look for known faults of the locked Python dependencies"
	@echo "make wheel   build wheel, sdist and bill of materials into dist/"
	@echo "make release-check  build them, check them, and print the notes of the version"
	@echo "make lint    check style, types and the order of the rooms"
	@echo "make ui      build the web UI                      (make serve does it, too)"
	@echo "make ui-dev  a server, and the web UI with hot reload (ARGS as for make serve)"
	@echo "make ui-types  make the UI's types anew from the server's OpenAPI description"
	@echo "make screenshots  take the pictures of docs/images anew"
	@echo "make docs    make a site with search of docs/, in site/"
	@echo "make bench   measure recall and speed"
	@echo "make conformance  check against recorded cases of the workflow format"
	@echo "make setup   only install into $(VENV), with what tests and checks need"
	@echo "make clean   remove $(VENV) and all caches"

setup: $(READY)
	@:

serve: $(SERVING) $(UI_BUILT)
	@exec $(BIN)/mnemoir serve $(ARGS)

ui: $(UI_BUILT)
	@:

# the pages come from another port than the server, which lets in its own origin alone
ui-dev: $(READY) $(UI_BUILT)
	@MNEMOIR_SERVER__CORS_ORIGINS=http://127.0.0.1:5173,http://localhost:5173 $(BIN)/mnemoir serve $(ARGS) & \
	server=$$!; trap "kill $$server" EXIT INT TERM; $(BIN)/python hatch_build.py run dev

ui-types: $(READY) $(UI_BUILT)
	@$(BIN)/python -m tools.openapi > ui/openapi.json
	@$(BIN)/python hatch_build.py run --silent types

ui-lint: $(READY) $(UI_BUILT)
	@$(BIN)/python hatch_build.py run --silent lint

ui-test: $(READY) $(UI_BUILT)
	@$(BIN)/python hatch_build.py run --silent test

# the browser that tests and screenshots use; `make test` leaves the tests of pages out where there can be none
browser: $(READY)
	@$(BIN)/python -m tests.chromium

screenshots: $(READY) $(UI_BUILT) browser
	@$(BIN)/python -m tools.screenshots $(ARGS)

# the tests of the UI beside all others: where one waits, the other computes
test: $(READY) $(UI_BUILT)
	@$(TESTS) quick --with-ui $(ARGS)

test-slow: $(READY) $(UI_BUILT)
	@$(TESTS) slow $(ARGS)

# by hand, on an idle machine, once some files take much longer or shorter than they did
test-times: $(READY) $(UI_BUILT) browser
	@$(TESTS) quick --record --with-ui
	@$(TESTS) slow --record

# one process: what is late is meant to be late by itself, and not for the tests beside it
test-late: $(READY) $(UI_BUILT) browser
	@$(BIN)/python -m pytest -v --late tests/browser $(ARGS)

lint: $(READY) $(UI_BUILT)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.function_names
	$(BIN)/python hatch_build.py run --silent lint
	$(BIN)/python -m tools.openapi > ui/openapi.json
	$(BIN)/python hatch_build.py run --silent types -- --check
	$(BIN)/python -m tools.docs_site

test-clients: $(READY)
	@$(BIN)/python -m tests.clients $(ARGS)

lock-clients: $(READY)
	@$(BIN)/python -m tests.clients --lock $(ARGS)

lock: $(READY)
	@$(BIN)/python -m tools.lock

audit: $(READY)
	@$(BIN)/python -m tools.audit

wheel: $(SERVING) $(UI_BUILT)
	@$(BIN)/python -m tools.release

release-check: wheel
	@$(BIN)/python -m tools.release_check

docs: $(DOCS)
	@$(BIN)/python -m tools.docs_site

bench: $(READY)
	@$(BIN)/python -m bench $(ARGS)

# recorded cases of the workflow format, where they are at hand
conformance: $(READY)
	@if [ -f "$(CONFORMANCE)/run.py" ]; then \
		$(BIN)/python "$(CONFORMANCE)/run.py" check --cmd "$(CURDIR)/$(BIN)/mnemoir serve --config-dir {config_dir} \
--user {user} --port {port} --data-dir {work_dir}-data" $(ARGS); \
	else \
		echo "No recorded cases in $(CONFORMANCE); nothing to check. Name their folder: make conformance CONFORMANCE=PATH"; \
	fi

clean:
	rm -rf $(VENV) .clients ui/node_modules src/mnemoir/server/static build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# what serves or ships leaves no tools of the build behind; all others build with what tests of the UI need anyway
$(UI_BUILT): $(UI_FILES) | $(SERVING) $(if $(filter-out serve wheel release-check,$(MAKECMDGOALS)),$(UI_PACKAGES))
	@$(BIN)/python hatch_build.py
	@touch $@

$(UI_PACKAGES): ui/package-lock.json | $(READY)
	@echo "Fetching the packages of the web UI: about 220 MB, 450 MB on the disk" >&2
	@$(BIN)/python hatch_build.py ci --silent
	@touch $@

$(READY): $(SERVING) requirements/tests.lock
	@$(BIN)/python -m tools.install tests
	@touch $@

# what makes the site of docs/, and nothing of Mnemoir
$(DOCS): requirements/docs.lock | $(BIN)/python
	@$(BIN)/python -m tools.install docs
	@touch $@

$(SERVING): pyproject.toml requirements/serving.lock | $(BIN)/python
	@$(BIN)/python -m tools.install serving
	@touch $@

$(BIN)/python:
	@found=""; \
	for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python; do \
		if command -v "$$python" >/dev/null 2>&1 && \
			"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			found="$$python"; break; \
		fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "Mnemoir needs Python 3.11 or newer, and none was found. Install it, or name it: make PYTHON=/path/to/python3" >&2; \
		exit 1; \
	fi; \
	echo "Making $(VENV) with $$found" >&2; \
	"$$found" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
