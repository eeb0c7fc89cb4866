# Two commands matter: `make demo` and `make test`. Each sets up whatever is still missing.
SHELL := /bin/bash
DISTRO ?= jazzy
DEPENDENCIES ?= newest
ROBOT ?= ur5e
MINUTES ?= 10
N ?= 20000
SEED ?= 1
PYTHON_OF_LEROBOT ?= python3.12
RESULTS := $(if $(WRITE),benchmark,.setup/bench)/results
export DISTRO DEPENDENCIES
ENV := . underlay/env.sh

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long faults faults-mutate fuzz soak lint coverage bench site shell clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile
	@echo "  Variables: ROBOT=ur5e|panda VIEW=1 (demo; VIEW shows it in the browser), DISTRO=jazzy|kilted, DEPENDENCIES=newest|stock|lyrical|oldest, N=20000 (fuzz), MINUTES=10 (soak), SEED=1 (both), BENCH=solve,latency (bench: only these), WRITE=1 (bench, soak, fuzz: replace the tracked results), ARGS=\"...\" (demo: launch arguments; test: pytest's)"

setup: ## Make .setup/: Python environment, underlay, package with everything (the others call it)
	@bash underlay/setup.sh

# What the demo needs, and no more; launch arguments may ask for a view or for masses.
DEMO_NEEDS := $(if $(findstring mujoco,$(ARGS)),all,$(if $(VIEW)$(findstring view:=true,$(ARGS)),view,demo))

demo: ## Show a simulated arm reach targets given in other tf frames (a minute; fetches 133 MB once)
	@bash underlay/setup.sh $(DEMO_NEEDS)
	@$(ENV) && ros2 launch basis_ik demo.launch.py robot:=$(ROBOT) $(if $(VIEW),view:=true) $(ARGS)

lint: setup
	@$(ENV) && if [ $$DEPENDENCIES = newest ]; then ruff check . && ruff format --check . && mypy; else \
	  echo "lint is left out with DEPENDENCIES=$$DEPENDENCIES: the type checker knows the newest numpy only"; fi

test: lint ## Lint, type check, and run every test (10 to 20 minutes; fetches 313 MB once)
	@$(ENV) && bash test/run.sh $(ARGS)

test-long: setup ## Run the tests that are too long for every change, and N random inputs (each Monday; fetches 3 GB once)
	@[ -e .setup/lerobot/complete ] || { $(PYTHON_OF_LEROBOT) -m venv .setup/lerobot && \
	  .setup/lerobot/bin/pip install -q --disable-pip-version-check 'lerobot[dataset]>=0.6' && touch .setup/lerobot/complete; }
	@$(ENV) && python -m basis_ik warm-up && python -m pytest -q -m long test && \
	  BASIS_IK_PLAIN_NUMBA=1 python -m pytest -q -m long test/solvers/pose/test_solve.py && \
	  python test/fuzz/fuzz_run.py --inputs $(N) --seed $(SEED)

coverage: setup ## Run every test, or those in ARGS, in one process after another, and count the lines that they run, kernels aside
	@$(ENV) && python -m coverage erase && { python -m coverage run -m pytest -q $(ARGS); status=$$?; python -m coverage combine -q && python -m coverage report && exit $$status; }

faults: setup ## Try every fault of the catalogue, with processes too, and 10,000 motions whose messages are late (an hour); writes docs/faults.md, docs/late_commands.md
	@$(ENV) && python -m basis_ik warm-up && python -m pytest -q test/faults/test_recorder.py && \
	  python -m pytest -q -m "" test/faults --ignore test/faults/test_recorder.py --ignore test/faults/test_catalogue.py \
	  --faults-table docs/faults.md && python -m pytest -q test/faults/test_catalogue.py && \
	  python test/fuzz/late_run.py --write

faults-mutate: setup ## Take the guards out one by one, and look which faults' tests fall; writes docs/faults_mutations.md
	@$(ENV) && python -m basis_ik warm-up && python test/faults/mutate.py $(ARGS)

fuzz: setup ## Feed the package N random inputs from SEED; prints what became of them
	@$(ENV) && python test/fuzz/fuzz_run.py --inputs $(N) --seed $(SEED) $(if $(WRITE),--write) $(ARGS)

bench: setup ## Measure, also against other solvers (fetches 2.7 GB once; up to 20 minutes a part); JSON below .setup/bench/results/
	@$(ENV) && bash benchmark/run.sh $(ARGS)

soak: setup ## Minutes of everything at once, drawn from a seed, on real processes; JSON below .setup/bench/results/
	@mkdir -p $(RESULTS) && $(ENV) && python benchmark/soak.py --minutes $(MINUTES) --seed $(SEED) --json $(RESULTS)/soak.json $(ARGS)

site: ## Build the pages for a browser: build/site/index.html (fetches 120 MB once)
	@python3 -m venv .setup/site && .setup/site/bin/pip install -q --disable-pip-version-check -r docs/requirements.txt && .setup/site/bin/sphinx-build -q -W --keep-going -c docs . build/site

shell: setup ## Open a shell in which ros2, colcon, python and pytest find everything
	@$(ENV) && PS1='(basis_ik) \w\$$ ' exec bash --norc -i

clean: ## Remove everything that set-up and the tests have made
	@rm -rf .setup build install log .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	@find . -name __pycache__ -prune -exec rm -rf {} +
	@find underlay -name '*.egg-info' -prune -exec rm -rf {} +
