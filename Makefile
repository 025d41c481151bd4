# One entry point. Needs Python 3.11-3.13 with venv, make, and network to the package indexes.
# `make PYTHON=/path/to/python3.12 demo` chooses the interpreter; everything lands in .venv and build.

SHELL := /bin/bash
.DEFAULT_GOAL := help

BIN := .venv/bin
INSTALLED := .venv/installed
UV := $(BIN)/uv

export PYTHON
export PYSPARK_PYTHON := $(CURDIR)/$(BIN)/python
export JUPYTER_PREFER_ENV_PATH := 1

$(INSTALLED): requirements.lock pyproject.toml tools/environment.sh
	@tools/environment.sh

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: java ## run the quickstart notebook on real data, leave it and an HTML page in build/
	@$(BIN)/python tools/run_notebook.py notebooks/00_quickstart.ipynb --to build
	@echo "Go on: 'make lab' opens JupyterLab on it, 'make test' runs the test suite."

.PHONY: test
test: java ## the whole test suite: unit, golden, interop where Java is found, doctests, notebooks
	@$(BIN)/python tools/run_tests.py

.PHONY: check
check: $(INSTALLED) ## lint and the tests that take no Spark, Java or browser: a few minutes
	@$(BIN)/python tools/run_tests.py --quick

.PHONY: soak
soak: $(INSTALLED) ## attacks from outside for half an hour: full disks, kills, stops; PAIMONLAB_SOAK_SECONDS says how long
	PAIMONLAB_SOAK_SECONDS=$${PAIMONLAB_SOAK_SECONDS:-1080} PAIMONLAB_DISK_ALL=1 PAIMONLAB_DISK_STEP=4096 PAIMONLAB_KILL_POINTS=12 \
	  $(BIN)/python -m pytest -o faulthandler_timeout=0 tests/outside tests/storage/stores/test_format_tables.py \
	    tests/catalog/hive/test_killed_migrations.py tests/spark/test_killed_drivers.py

.PHONY: promises
promises: java ## promises of ingest jobs at full size, about an hour and a half; PROMISES='8 11' chooses some
	$(BIN)/python -m benchmarks.ingest.acceptance $(PROMISES)

.PHONY: spark-promises
spark-promises: java ## 500 random sequences, 60 faults of a cluster, 100 kills of streams: some hours; PAIMONLAB_SEED says which
	export PAIMONLAB_SEED=$${PAIMONLAB_SEED:-$$RANDOM} && echo "PAIMONLAB_SEED=$$PAIMONLAB_SEED" && \
	  $(BIN)/python -m tests.random_changes.many build/random_changes --seed $$PAIMONLAB_SEED --count $${PAIMONLAB_SEQUENCES:-500} && \
	  PAIMONLAB_CLUSTER_FAULTS=$${PAIMONLAB_CLUSTER_FAULTS:-60} $(BIN)/python -m pytest -s -o faulthandler_timeout=0 \
	    tests/spark/test_cluster.py -k no_fault && \
	  PAIMONLAB_STREAM_KILLS=$${PAIMONLAB_STREAM_KILLS:-100} $(BIN)/python -m pytest -s -o faulthandler_timeout=0 \
	    tests/spark/streaming/test_restarts.py

.PHONY: lab
lab: java ## open JupyterLab on the notebooks
	$(BIN)/jupyter lab --ip=127.0.0.1 --ServerApp.root_dir=notebooks $(if $(filter 0,$(shell id -u)),--allow-root) notebooks/00_quickstart.ipynb

.PHONY: site
site: $(INSTALLED) ## build the documentation as a site into build/site; without network
	$(BIN)/python -m zensical build --strict

.PHONY: lint
lint: $(INSTALLED) ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/python -m tools.readme_types
	$(BIN)/lint-imports --no-cache
	$(BIN)/lint-imports --no-cache --config tools/type_imports.ini

.PHONY: bench
bench: java ## compare with pypaimon, Java Paimon 1.3.1 and 1.4.2, deltalake and pyiceberg; BENCH='--help' passes arguments
	$(BIN)/python -m benchmarks.run $(BENCH)
	$(if $(BENCH),,$(BIN)/python -m benchmarks.growth)
	$(if $(BENCH),,$(BIN)/python -m benchmarks.goals)

.PHONY: interop
interop: java ## live tests against Java Paimon 1.3.1, 1.4.2 and 0.9; fails without JDK and Maven
	PAIMONLAB_INTEROP=require PAIMONLAB_INTEROP_VERSION=$${PAIMONLAB_INTEROP_VERSION:-1.3.1,1.4.2} \
	  $(BIN)/python -m pytest -m interop tests

.PHONY: versions
versions: java ## the tests of Spark on each pair of its versions, of Java and of Python; some hours
	$(BIN)/python -m tools.spark_versions --write

.PHONY: release
release: $(INSTALLED) ## build wheel and sdist, try them in fresh environments of each Python; uploads nothing
	$(BIN)/python -m tools.release

.PHONY: labextension
labextension: $(INSTALLED) ## build the JupyterLab extension anew after a change of its modules
	$(BIN)/python -m tools.view_types
	$(BIN)/python -m tools.labextension

.PHONY: lock
lock: $(INSTALLED) ## resolve both lock files anew
	$(UV) pip compile pyproject.toml --output-file requirements.lock --constraints tools/lock-constraints.txt \
	  --extra spark --extra connect --extra stores --extra hdfs --extra rest --extra serve --extra sql --extra notebook --extra tutorials --extra docs --extra dev \
	  --system-certs --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --upgrade --quiet \
	  --custom-compile-command 'make lock'
	$(UV) pip compile tools/java.in --output-file requirements-java.lock \
	  --system-certs --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --upgrade --quiet \
	  --custom-compile-command 'make lock'

.PHONY: java
java: $(INSTALLED)
	@tools/java.sh

.PHONY: clean
clean: ## remove build/ and caches; .venv stays
	rm -rf build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -path ./.venv -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## remove .venv, too
	rm -rf .venv
