# Every target sets up what it needs in .venv; only Python >= 3.11 and make have to be there.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest

.PHONY: figure-1 quick test test-slow test-lowest lint bench reproductions reference docs docs-links size release clean

figure-1: $(VENV)/.base
	$(BIN)/dp-bandit reproduce figure-1 --out results/figure-1

# Without the tests marked thorough, which take most of the time.
quick: $(VENV)/.test
	$(BIN)/python -m pytest -n auto --dist loadfile -m 'not slow and not thorough'

test: lint
	$(BIN)/python -m pytest -n auto --dist loadfile

test-slow: $(VENV)/.neighbours $(VENV)/.docs
	$(BIN)/python -m pytest -n 3 --dist loadfile -m slow
	$(BIN)/python -m pytest -m '' -rs tests/neighbours

# With the lowest version of each direct dependency that pyproject.toml allows; old versions warn about each other.
test-lowest:
	rm -rf $(LOWEST) && $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet uv
	$(LOWEST)/bin/uv pip compile --quiet --python $(LOWEST)/bin/python --resolution lowest-direct -c constraints.txt \
		--extra sb3 --extra test --output-file $(LOWEST)/all.txt pyproject.toml
	# pip chooses the build of torch by its own settings; see constraints.txt.
	sed -E '/^(torch|triton|cuda|nvidia)/d' $(LOWEST)/all.txt > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/pip install --quiet -c constraints.txt -r $(LOWEST)/lowest.txt -e '.[sb3,test]'
	$(LOWEST)/bin/python -m pytest -n auto --dist loadfile -m 'not slow and not thorough' -o filterwarnings=default

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf .tc build && $(BIN)/pip install --quiet --no-deps --target .tc .
	cd .tc && MYPYPATH=. ../$(BIN)/mypy --config-file ../pyproject.toml -p dp_bandit_envs

bench: $(VENV)/.bench
	$(BIN)/python -m tests.benchmarks

# Plays all reproductions, about ten minutes, and puts their numbers and pictures into the pages. Results of older code
# are refused: remove results/ first.
reproductions: $(VENV)/.base
	for what in figure-1 figure-1-epsilon-1 figure-1-epsilon-0.1 figure-2-modern figure-graph price-of-privacy; do $(BIN)/dp-bandit reproduce $$what || exit 1; done
	$(BIN)/python docs/generators results
	$(BIN)/python docs/generators pictures

# The suite's references, dp_bandit_envs/suite/*_v1.json; `make reference SIZES=full` plays the largest size. Cells that
# were played are kept in results/reference.
SIZES ?= tiny quick
reference: $(VENV)/.base
	$(BIN)/python -m dp_bandit_envs.suite.reference_maker $(SIZES)

# The site, in docs/_build/html/index.html; a warning is an error. `docs-links` asks whether others' pages are still there.
docs: $(VENV)/.docs
	$(BIN)/sphinx-build -b html -c docs -d docs/_build/doctrees -W --keep-going . docs/_build/html

docs-links: $(VENV)/.docs
	$(BIN)/sphinx-build -b linkcheck -c docs -d docs/_build/doctrees . docs/_build/links

# The files of a release, in dist/, tried on every Python of this machine; in about half an hour. See CONTRIBUTING.md.
release: $(VENV)/.test
	$(BIN)/pip install --quiet build twine
	$(BIN)/python -m tests.tools.release

# Lines and files of each room.
size:
	@$(PYTHON) -m tests.tools.size

$(VENV)/.base: pyproject.toml tests/tools/editor_links.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e '.[all]'
	$(BIN)/python -m tests.tools.editor_links
	touch $@

$(VENV)/.test: $(VENV)/.base constraints.txt
	$(BIN)/pip install --quiet -c constraints.txt -e '.[sb3,test]'
	touch $@

# Packages whose idioms are tests in tests/neighbours/; elsewhere these tests are skipped.
$(VENV)/.neighbours: $(VENV)/.test
	$(BIN)/pip install --quiet -c constraints.txt -e '.[neighbours]'
	touch $@

$(VENV)/.docs: $(VENV)/.test
	$(BIN)/pip install --quiet -c constraints.txt -e '.[docs]'
	touch $@

$(VENV)/.bench: $(VENV)/.base
	$(BIN)/pip install --quiet -e '.[bench]'
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) .tc build docs/_build docs/generated *.egg-info .mypy_cache .pytest_cache .ruff_cache
