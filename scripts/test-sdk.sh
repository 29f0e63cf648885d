#!/usr/bin/env bash
# Checks and tests the Python SDK: ruff, mypy, pytest against the real program
# (STEPGAP_BIN). Arguments go to pytest.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

python=$("$ROOT/scripts/python-env.sh" sdk/python/requirements.txt)
cd "$ROOT/sdk/python"
# Nothing is written beside the sources.
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=src HYPOTHESIS_STORAGE_DIRECTORY="$CACHE/sdk-hypothesis"

say "sdk: ruff"
"$python" -m ruff check --no-cache .
"$python" -m ruff format --no-cache --check .
say "sdk: mypy --strict"
"$python" -m mypy --strict --cache-dir "$CACHE/sdk-mypy"
say "examples/grpo-cpu: ruff, mypy --strict"
# S311, S603, T20: chances that are no secrets, the project's own program, a command line.
"$python" -m ruff check --no-cache --config pyproject.toml --extend-ignore S311,S603,T20 ../../examples/grpo-cpu
"$python" -m ruff format --no-cache --config pyproject.toml --check ../../examples/grpo-cpu
MYPYPATH=src:../../examples/agent:../../examples/grpo-cpu "$python" -m mypy --strict --cache-dir "$CACHE/sdk-mypy" -p searchrl
say "sdk: pytest"
"$python" -m pytest -p no:cacheprovider "$@"
