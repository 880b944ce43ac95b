#!/usr/bin/env bash
# Fetches the pinned packages of web/ unless those of the present lock file are already there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../web" 2>/dev/null || exit 0
[[ -f package.json ]] || exit 0

current=$(sha256sum package-lock.json)
stamp=node_modules/.installed-lock
if [[ ! -f $stamp || $(<"$stamp") != "$current" ]]; then
  npm ci --include=dev --no-audit --no-fund
  printf '%s\n' "$current" >"$stamp"
fi
