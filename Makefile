# make          set up the environment and build everything that can be built here
# make test     set up the environment and run the tests
# make help     list all targets

PYTHON ?= python3
CORES ?= all
BUILDER ?= podman
BASE ?= python:3.11-slim
BIN := .venv/bin
READY := .venv/.ready
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES) --
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder
BUILD := $(BIN)/snakemake --cores $(CORES) --prioritize headline --
CONFIRM := $(filter yes,$(YES))
export PYTHONDONTWRITEBYTECODE := # jobs are short: compiled once, modules load in a third of the time

.DEFAULT_GOAL := all
.PHONY: all movielens multiverse synthetic paper test test-slow test-page test-adapters test-slurm test-trials test-queue test-kubernetes test-places test-container test-wheel test-s3 test-deploy slurm container lint format schema verify repair determinism torture fuzz soak soak-policy audit bench bench-scale bench-engines bench-snakemake profile docs snapshot archive lock clean distclean help

all: $(READY) movielens ## build the synthetic half and every data set whose raw files are here (the default)
	@began=$$(date +%s); $(BUILD) all && $(BIN)/graphdr summary --since $$began

multiverse: all ## judge the claims with other settings, each method at its best, and tell it on the page
	@$(BUILD) calibration multiverse && $(BUILD) all

synthetic: $(READY) ## build the synthetic half alone
	@$(BUILD) synthetic
	@echo "Built: results/tables, results/figures"

paper: $(READY) ## fetch and build everything; an error at the end if a data set is missing
	@began=$$(date +%s); $(SNAKEMAKE) fetch; $(BUILD) paper; code=$$?; $(BIN)/graphdr summary --since $$began; exit $$code

movielens: $(READY) # the two data sets that reach any machine; without a network all else is built
	@test -e data/raw/ml_100k/receipt.parquet -a -e data/raw/ml_1m/receipt.parquet || { echo "Fetching MovieLens …"; \
	$(SNAKEMAKE) data/raw/ml_100k/receipt.parquet data/raw/ml_1m/receipt.parquet > /dev/null 2>&1; true; }

test: $(READY) ## run the tests
	@$(PYTEST)

test-slow: $(READY) ## run the tests that take seconds each: kills, whole commands, compilers (two minutes)
	@$(PYTEST) -m slow

test-trials: $(READY) ## run every benchmark and trial at a tiny size (three minutes; TRIALS="--only fuzz": some of them)
	@$(BIN)/python -m trust.trials $(TRIALS)

test-page: $(READY) ## test results/report.html in a headless browser (installs Chromium where it can)
	@tests/page/run

test-adapters: $(READY) ## test the adapters against coba, river and obp, in an environment of their own
	@tests/adapters/run

test-slurm: $(READY) ## run the workflow on a real SLURM, started for the purpose (root on Debian; a quarter of an hour)
	@tests/slurm/run $(SLURM_CHECKS)

test-queue: $(READY) ## run the workflow through a queue of two workers, one of them killed (QUEUE_CHECKS="--problems 2000": a study)
	@tests/queue/run $(QUEUE_CHECKS)

test-kubernetes: $(READY) ## dry-run the profile for Kubernetes with its plugins (needs a package index; half a minute)
	@$(BIN)/python -m tests.queue.kubernetes

test-places: $(READY) ## build in odd places: no home, odd paths, read-only sources, other Pythons (a quarter of an hour)
	@$(BIN)/python -m tests.places.checks $(PLACE_CHECKS)

test-container: $(READY) ## build the image, and the tiny configuration in it (root on Debian, or buildah; ten minutes)
	@tests/container/run

container: ## build the image graphdr (BUILDER=docker, podman or buildah; BASE=image with Python)
	@$(BUILDER) build --build-arg BASE=$(BASE) --tag graphdr $(BUILD_OPTIONS) --file Containerfile .

test-wheel: $(READY) ## build the wheel and try it in a clean environment (needs a package index; two minutes)
	@$(BIN)/python -m tests.wheel.checks

test-s3: $(READY) ## build as a module, and into a bucket by two workers: the same values (needs a package index; two minutes)
	@$(BIN)/python -m tests.elsewhere.bucket

test-deploy: $(READY) ## deploy the last commit with snakedeploy into an empty folder, and archive a build (needs a package index)
	@$(BIN)/python -m tests.elsewhere.deployment

slurm: $(READY) ## build everything that can be built here on a SLURM cluster
	@$(BIN)/snakemake --profile workflow/profiles/slurm --prioritize headline -- all

lint: $(READY) ## check style
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/snakefmt --check Snakefile workflow && $(BIN)/lint-imports --no-logo --no-cache && $(BIN)/mypy --no-error-summary

format: $(READY) ## apply the style
	@$(BIN)/ruff check --fix . && $(BIN)/ruff format . && $(BIN)/snakefmt Snakefile workflow

schema: $(READY) ## write the schema of config.yaml, for editors
	@$(BIN)/python -m docs.schema

verify: $(READY) ## compare every built file with the manifest
	@$(BIN)/python -m graphdr verify

repair: $(READY) ## delete what verify finds broken, and build it again
	@build=$$($(BIN)/graphdr verify --rebuild-list) && $(BIN)/graphdr verify --repair-list | xargs -r rm -fv -- \
	&& receipts=$$(printf '%s\n' $$build | grep '/receipt\.parquet$$'; true) \
	&& { test -z "$$receipts" || $(SNAKEMAKE) $$receipts; } && { test -z "$$build" || $(SNAKEMAKE) all $$build; } \
	&& { $(BIN)/graphdr verify || true; }

determinism: $(READY) ## build in several ways and compare every file
	@$(BIN)/python -m trust.determinism

torture: $(READY) ## kill builds, damage files, fill the disk: nothing is lost, nothing passes unseen (an hour; TORTURE="--tiny --seed 1": minutes)
	@$(BIN)/python -m trust.torture $(TORTURE)

fuzz: $(READY) ## read 10,000 odd files, settings and archives (FUZZ="--seed 1": others)
	@$(BIN)/python -m trust.fuzz $(FUZZ)

soak: $(READY) ## build the synthetic half 20 times: nothing changes, grows or is left behind (an hour)
	@$(BIN)/python -m trust.soak

soak-policy: $(READY) ## play a million rounds with a served policy that is killed again and again: nothing is lost (minutes)
	@$(BIN)/python -m trust.policy

audit: $(READY) ## ask for known weaknesses of the locked packages (needs a network)
	@$(BIN)/python -m trust.audit

bench: $(READY) ## measure kernels, methods, peers, limits and solvers
	@$(BIN)/python -m benchmarks

bench-scale: $(READY) ## measure solvers, GraphDR and the graph prior up to a million nodes
	@$(BIN)/python -m benchmarks --scale

bench-engines: $(READY) ## play 100 million interactions with a million items end to end, on two workers (an hour, 8 GB of disk)
	@$(BIN)/python -m benchmarks.engines

bench-snakemake: $(READY) ## measure Snakemake's own CPU per job, in runs of 1,000 and 4,000 jobs (some minutes)
	@$(BIN)/python -m benchmarks.many_jobs

profile: $(READY) ## say where the CPU seconds of the last build went
	@$(BIN)/python -m benchmarks.profile

docs: $(READY) ## refresh what is written from the code, and make a site of the pages: build/site/index.html
	@$(BIN)/python -m docs.api
	@$(BIN)/python -m docs.architecture_figure
	@$(BIN)/python -m docs.columns
	@$(BIN)/python -m docs.glossary
	@$(BIN)/python -m docs.rules
	@$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going -b html -c docs . build/site && echo "Wrote build/site/index.html"

snapshot: multiverse docs ## refresh the figures and tables under docs/ and in the README from results/
	@$(BUILD) leaderboard
	@$(BIN)/python -m docs.snapshot
	@$(BIN)/python -m docs.findings
	@$(BIN)/python -m docs.reproduction
	@$(BIN)/python -m docs.leaderboard

archive: ## pack the files in git, raw data and all that was built into graphdr.tar.gz, for another machine
	@{ git ls-files -z; find data/raw data/tables results .snakemake/metadata -type f -print0 2> /dev/null; } \
	| tar --null --files-from=- --transform='s,^,graphdr/,S' -czf graphdr.tar.gz
	@echo "Packed: graphdr.tar.gz"

lock: ## pin the newest versions (needs uv)
	uv pip compile --universal --generate-hashes --no-header --quiet --all-extras -p 3.11 --upgrade pyproject.toml -o requirements.lock

$(READY): requirements.lock pyproject.toml
	@command -v $(PYTHON) > /dev/null || { echo "error: $(PYTHON) not found; install Python 3.11 or newer, or run make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "error: Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) -V 2>&1); run make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2> /dev/null || { echo "error: $(PYTHON) has no venv module; install it (Debian, Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@mkdir .setup.tmp 2> /dev/null || { echo "error: another make sets up .venv here; wait for its end (if none runs: rmdir .setup.tmp)" >&2; exit 1; }
	@echo "Setting up .venv (1.5 GB, one to three minutes) …"
	@trap 'rmdir .setup.tmp' EXIT; trap 'exit 1' HUP INT TERM; $(PYTHON) -m venv --clear .venv \
	&& $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock \
	&& $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable . \
	&& touch $@

clean: ## remove everything built, downloaded raw files excepted (asks first; YES=yes does not)
	@$(call confirm,everything built under results/ and data/)
	@$(remove_built)

distclean: ## also remove raw data and the environment (asks first; YES=yes does not)
	@$(call confirm,everything built under results/ and data/; the raw data and the environment .venv)
	@$(remove_built)
	@rm -rf .venv .venv-adapters build data/raw
	@find . -name __pycache__ -prune -exec rm -rf {} +

# Snakemake's records, tables and receipts go together: a file without its record would pass as current for ever.
remove_built = find results -mindepth 1 ! -path results/README.md -delete; rm -rf .snakemake data/tables data/raw/*/receipt.parquet
confirm = $(if $(CONFIRM),true,{ printf 'Remove $(1)? Type yes: '; read -r answer && [ "$$answer" = yes ]; } || { echo "nothing removed"; exit 1; })

help: ## list the targets
	@sed -n 's/^\([a-z][a-z0-9 -]*\):[^#]*## /\1: /p' $(MAKEFILE_LIST)
