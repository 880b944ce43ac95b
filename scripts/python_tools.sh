#!/usr/bin/env bash
# Makes build/venv with the Python tools of the tests, at the versions of python_tools.txt.
# Idempotent: does nothing when those versions are already there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

wanted=$(sha256sum scripts/python_tools.txt)
stamp=build/venv/.installed-tools
if [[ ! -f $stamp || $(<"$stamp") != "$wanted" ]]; then
  python3 -m venv --clear build/venv
  build/venv/bin/pip install --quiet --disable-pip-version-check --requirement scripts/python_tools.txt
  printf '%s\n' "$wanted" >"$stamp"
fi
