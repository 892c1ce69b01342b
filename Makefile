# Every target sets up what it needs in .venv; only Python >= 3.11 and make have to be there.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: figure-1 quick test test-slow lint bench clean

figure-1: $(VENV)/.base
	$(BIN)/dp-bandit reproduce figure-1 --out results/figure-1

# A tenth of the tests' time, nearly all of the tests: see tests/thorough.txt for the others.
quick: $(VENV)/.test
	$(BIN)/python -m pytest -n auto -m 'not slow and not thorough'

test: lint
	$(BIN)/python -m pytest -n auto

test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -m slow

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf .tc build && $(BIN)/pip install --quiet --no-deps --target .tc .
	cd .tc && MYPYPATH=. ../$(BIN)/mypy --config-file ../pyproject.toml -p dp_bandit_envs

bench: $(VENV)/.bench
	$(BIN)/python -m tests.benchmarks

$(VENV)/.base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e .
	touch $@

$(VENV)/.test: $(VENV)/.base constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt -e '.[sb3,test]'
	touch $@

$(VENV)/.bench: $(VENV)/.base
	$(BIN)/pip install --quiet -e '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) .tc build *.egg-info .mypy_cache .pytest_cache .ruff_cache
