#!/usr/bin/env bash
# Build .venv from requirements.lock and install the package into it; `make` calls this when one of them changed.
# PYTHON=/path/to/python chooses the interpreter; otherwise the first of 3.11 to 3.13 that is found.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '==> %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

is_supported() {
  "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null
}

find_python() {
  local candidate
  if [ -n "${PYTHON:-}" ]; then
    is_supported "$PYTHON" || fail "PYTHON=$PYTHON is not a Python 3.11, 3.12 or 3.13"
    printf '%s' "$PYTHON"
    return
  fi
  for candidate in python3 python3.13 python3.12 python3.11 python; do
    if is_supported "$candidate"; then
      printf '%s' "$candidate"
      return
    fi
  done
  fail "no Python 3.11, 3.12 or 3.13 on PATH; install one, or name it: make PYTHON=/path/to/python3.12"
}

check_venv_module() { # Debian and Ubuntu split it off
  local version
  "$1" -c 'import ensurepip, venv' 2>/dev/null && return
  version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  fail "$1 has no venv module. On Debian or Ubuntu: sudo apt install python$version-venv"
}

if ! { [ -x .venv/bin/python ] && is_supported .venv/bin/python; }; then
  python=$(find_python)
  check_venv_module "$python"
  say "Creating .venv with $("$python" --version) ($python)"
  rm -rf .venv
  "$python" -m venv .venv
fi

say "Installing what requirements.lock names (the first time about 720 MB to download, 456 MB of it PySpark)"
mkdir -p build
pip_install() { .venv/bin/python -m pip --disable-pip-version-check install "$@"; }
large_downloads='s/^ *\(Downloading .*([0-9]\{2,\}\(\.[0-9]\)\{0,1\} MB)\).*/    \1/p'
if ! pip_install --progress-bar off --require-hashes -r requirements.lock 2>&1 |
  tee build/pip.log | sed -un -e "$large_downloads" -e 's/^Installing collected packages.*/    Installing/p'; then
  tail -n 15 build/pip.log >&2
  fail "pip could not install requirements.lock; all of its output is in build/pip.log"
fi

say "Installing paimonlab itself, editable"
pip_install --quiet --no-deps --no-build-isolation -e .
touch .venv/installed
