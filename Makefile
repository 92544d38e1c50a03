# Two commands do everything on a fresh machine: `make demo` and `make test`.

VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check soak bench bench-panel docs vsix vscode clean help

help:
	@echo "make demo   set up, and run one real turn in the terminal, offline"
	@echo "make test   set up, and run every test (CI runs just this)"
	@echo "make check  the fast part: format, lint, types, layers, quick tests"
	@echo "make soak   an hour of kills, faults, load and random inputs; ARGS=\"--minutes 5 --scale 1\" is a look"
	@echo "make bench  measure the server; make bench-panel measures the panel of the VS Code client"
	@echo "make vsix   build the VS Code extension, with the server in it"
	@echo "make vscode open VS Code in the browser with the extension and the demo workspace"
	@echo "make docs   write the generated reference pages again"
	@echo "make clean  remove what was made here"

demo: $(VENV)/.runtime
	@$(BIN)/turnbuckle demo

test:
	@scripts/test

check: $(VENV)/.dev
	@scripts/check
	@$(BIN)/pytest -q --ignore=tests/editors --ignore=tests/servers --deselect tests/agent/test_stress.py

soak: $(VENV)/.dev
	@$(BIN)/python scripts/soak $(ARGS)

bench: $(VENV)/.dev
	@$(BIN)/python -m benchmarks $(ARGS)

bench-panel:
	@cd vscode-client && npm install --no-save --ignore-scripts --no-audit --no-fund --silent && \
		npm run --silent build
	@node benchmarks/panel.mjs --check $(ARGS)

docs: $(VENV)/.dev
	@$(BIN)/python docs/generate.py

vsix: $(VENV)/.runtime
	@$(BIN)/python scripts/vsix

vscode:
	@scripts/vscode

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -rf tests/editors/node/node_modules vscode-client/node_modules vscode-client/dist
	rm -rf vscode-client/server vscode-client/*.vsix .cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.runtime: pyproject.toml scripts/setup
	@scripts/setup runtime

$(VENV)/.dev: pyproject.toml scripts/setup
	@scripts/setup dev
