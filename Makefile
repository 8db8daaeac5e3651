# `make` lists the targets. All of them work in this folder and in its .venv only.

PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
LOG := $(VENV)/install.log
STAMP := $(VENV)/.installed

.PHONY: help env demo test test-all test-slow programs networks test-oldest test-newest lint format types reference bench hooks lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' Makefile
	@echo 'PYTHON=... chooses the Python of a new .venv, WORKERS=... the processes of the tests, ARGS=... is handed on.'

env: $(STAMP) ## .venv with pullback, all its extras and the development tools
	@echo 'make env: $(VENV) is ready'

demo: $(STAMP) ## the demonstration
	@echo 'make demo: $(BIN)/pullback demo $(ARGS)'
	@$(BIN)/pullback demo $(ARGS)

test: lint ## format, lint, types, then the quick tests; stops at the first that fails
	@echo 'make test: quick tests'
	@$(BIN)/pytest -n $(WORKERS) -m 'not slow' $(ARGS)

test-all: lint ## the same with the slow tests
	@echo 'make test-all: all tests'
	@$(BIN)/pytest -n $(WORKERS) $(ARGS)

test-slow: $(STAMP) ## the slow tests alone; ARGS='tests/onnx' those of a folder
	@echo 'make test-slow: slow tests'
	@$(BIN)/pytest -n $(WORKERS) -m slow $(ARGS)

programs: $(STAMP) ## ARGS=100000 random programs: do engines and derivatives agree?
	@$(BIN)/python -m tests.programs $(ARGS)

networks: $(STAMP) ## ARGS=1000 random networks: does XLA compute what NumPy does, in each way that it chooses by shape?
	@$(BIN)/python -m tests.networks $(ARGS)

test-oldest: ## quick tests with the oldest numpy, jax, onnx and onnxruntime that are allowed, in .venv-oldest
	@$(call test_in,.venv-oldest,tools/oldest.py)

test-newest: ## quick tests with the newest of all that pip finds, in .venv-newest
	@$(call test_in,.venv-newest,-c '')

lint: $(STAMP) ## format, lint and types, changing nothing
	@echo 'make lint: ruff format --check'
	@$(BIN)/ruff format --check .
	@echo 'make lint: ruff check'
	@$(BIN)/ruff check .
	@echo 'make lint: mypy'
	@$(BIN)/mypy

format: $(STAMP) ## rewrite the sources as `make lint` wants them, as far as a tool can
	@$(BIN)/ruff check --fix --exit-zero --quiet .
	@$(BIN)/ruff format .

types: $(STAMP) ## mypy alone
	@$(BIN)/mypy

reference: $(STAMP) ## docs/reference and docs/guide/pictures anew
	@$(BIN)/python -m tools.reference
	@$(BIN)/python -m tools.onnx_operators
	@$(BIN)/python -m tools.accuracy
	@$(BIN)/python docs/pictures.py

bench: $(STAMP) ## the benchmarks
	@$(BIN)/python -m benchmarks $(ARGS)

hooks: $(STAMP) ## format, lint and types before every commit
	@$(BIN)/pre-commit install

lock: ## requirements-dev.lock anew, with the newest versions
	@rm -rf build/lock
	@"$(PYTHON)" -m venv build/lock
	@build/lock/bin/python -m pip install --quiet '.[all,dev]'
	@sed '/^[^#]/d' requirements-dev.lock > build/lock/pins
	@build/lock/bin/python -m pip freeze --exclude pullback >> build/lock/pins
	@mv build/lock/pins requirements-dev.lock

clean: ## remove everything that was made here, .venv too
	@rm -rf $(VENV) .venv-oldest .venv-newest build dist pullback-demo .mypy_cache .ruff_cache .pytest_cache
	@find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# test_in(folder, what Python runs to write constraints for pip): an environment of its own, and the quick tests in it.
define test_in
	echo 'make $@: making $(1) (about 1 GB)'; \
	"$(PYTHON)" -m venv $(1) \
	  && "$(PYTHON)" $(2) > $(1)/pins \
	  && $(1)/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager -c $(1)/pins -e '.[all,dev]' \
	  && $(1)/bin/python -m pullback doctor --quick \
	  && $(1)/bin/pytest -n $(WORKERS) -m 'not slow' $(ARGS)
endef

# A .venv works only in the folder where it was made: not after that was renamed or copied.
ifneq ($(shell cat $(STAMP) 2>/dev/null),$(CURDIR))
.PHONY: $(STAMP)
endif

$(STAMP): pyproject.toml requirements-dev.lock
	@fail() { printf 'make env: %s\n' "$$1" >&2; exit 1; }; \
	version='import sys; print("%d.%d" % sys.version_info[:2])'; \
	found=$$("$(PYTHON)" -c "$$version" 2>/dev/null) \
	  || fail 'cannot run "$(PYTHON)"; needs Python >= 3.11 (set PYTHON=...)'; \
	"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || fail "needs Python >= 3.11, found $$found (set PYTHON=...)"; \
	"$(PYTHON)" -c 'import venv, ensurepip' 2>/dev/null \
	  || fail "Python $$found cannot make environments: no venv module (Debian, Ubuntu: apt install python3-venv)"; \
	[ "$$(cat $(STAMP) 2>/dev/null)" = '$(CURDIR)' ] && [ "$$($(BIN)/python -c "$$version" 2>/dev/null)" = "$$found" ] \
	  || rm -rf $(VENV); \
	mkdir -p $(VENV) 2>/dev/null || fail 'cannot write to this folder'; \
	echo "make env: making $(VENV) with Python $$found"; \
	"$(PYTHON)" -m venv $(VENV) > $(LOG) 2>&1 || fail 'could not make $(VENV); see $(LOG)'; \
	echo 'make env: installing packages (about 1 GB, some minutes the first time; log in $(LOG))'; \
	$(BIN)/python -m pip install --disable-pip-version-check --no-input -c requirements-dev.lock -e '.[all,dev]' \
	  >> $(LOG) 2>&1 || fail 'could not install packages (is PyPI reachable?); see $(LOG)'; \
	printf '%s\n' '$(CURDIR)' > $(STAMP)
