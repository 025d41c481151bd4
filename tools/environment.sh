#!/usr/bin/env bash
# Build .venv from requirements.lock and install the package into it; `make` calls this when one of them changed.
# PYTHON=/path/to/python chooses the interpreter; otherwise the first of 3.11 to 3.13 that is found.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly CANDIDATES=(python3 python3.13 python3.12 python3.11 python)

say() { printf '==> %s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }
pip_install() { .venv/bin/python -m pip --disable-pip-version-check install "$@"; }

is_supported() {
  "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null
}

has_venv() { # Debian and Ubuntu split it off
  "$1" -c 'import venv; from ensurepip import version' 2>/dev/null
}

choose_python() {
  local candidate version without_venv=
  if [ -n "${PYTHON:-}" ]; then
    is_supported "$PYTHON" || fail "PYTHON=$PYTHON is not a Python 3.11, 3.12 or 3.13"
  fi
  for candidate in "${PYTHON:-${CANDIDATES[@]}}"; do
    is_supported "$candidate" || continue
    if has_venv "$candidate"; then
      printf '%s' "$candidate"
      return
    fi
    without_venv=${without_venv:-$candidate}
  done
  [ -n "$without_venv" ] ||
    fail "no Python 3.11, 3.12 or 3.13 on PATH; install one, or name it: make PYTHON=/path/to/python3.12"
  version=$("$without_venv" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  fail "$without_venv (Python $version) has no venv module; on Debian and Ubuntu: apt install python$version-venv"
}

if ! { is_supported .venv/bin/python && .venv/bin/python -m pip --version >/dev/null 2>&1; }; then
  python=$(choose_python)
  say "Creating .venv with $("$python" --version) ($python)"
  rm -rf .venv
  "$python" -m venv .venv
fi

# PySpark's 450 MB would be compressed into a wheel that is unpacked at once.
export DIST_EXTRA_CONFIG=$PWD/tools/stored_wheels.cfg

# uv, which takes pip's index, downloads and unpacks by all cores: a third of pip's processor time. pip is there without it.
pip_index() { .venv/bin/python -m pip config list | sed -n "s/^\(global\|install\|:env:\)\.index-url='\(.*\)'$/\2/p" | tail -n 1; }

install_by_uv() {
  local index
  awk '/^[a-z]/ {is_uv = /^uv==/} is_uv' requirements.lock >build/uv.lock
  pip_install --quiet --no-compile --no-deps --require-hashes -r build/uv.lock || return
  index=$(pip_index)
  ${index:+env UV_DEFAULT_INDEX="$index"} .venv/bin/uv pip install --python .venv/bin/python --system-certs \
    --no-config --no-progress --no-deps --require-hashes -r requirements.lock
}

install_by_pip() { pip_install --progress-bar off --no-compile --require-hashes -r requirements.lock; }

say "Installing what requirements.lock names (the first time about 720 MB to download, 456 MB of it PySpark)"
mkdir -p build
if ! install_by_uv 2>&1 | tee build/uv.log | sed -un 's/^ *\(Downloading .*([0-9]\{2,\}.*MiB)\|Building .*\)/    \1/p'; then
  say "uv did not install them (build/uv.log says why): installing with pip"
  large_downloads='s/^ *\(Downloading .*([0-9]\{2,\}\(\.[0-9]\)\{0,1\} MB)\).*/    \1/p'
  if ! install_by_pip 2>&1 |
    tee build/pip.log | sed -un -e "$large_downloads" -e 's/^Installing collected packages.*/    Installing/p'; then
    tail -n 15 build/pip.log >&2
    fail "pip could not install requirements.lock; all of its output is in build/pip.log"
  fi
fi

# Of the rest few modules are ever loaded, and those are compiled then. Those of tests and templates need not compile.
rarely='/(tests|debugpy|ibis|mypyc?|narwhals|pip|pkg_resources|plotly|pydevd|pygments/lexers|pymdownx|setuptools|zensical)/'
.venv/bin/python -m compileall -q -j 0 -x "$rarely|/sqlalchemy/(dialects|testing)/" .venv/lib >build/compile.log 2>&1 || true

say "Installing paimonlab itself, editable"
pip_install --quiet --no-deps --no-build-isolation -e .
touch .venv/installed
