#!/usr/bin/env bash
# Configures and builds a preset (release by default) and leaves the release program at build/hindsight.
#   scripts/build.sh [release|asan|tsan|fuzz] [TARGET…]     all targets unless some are named
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}

# One compiler cache serves every clone.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

scripts/web_deps.sh
configured=$(cmake --preset "$preset" 2>&1) || {
  printf '%s\n' "$configured" >&2
  exit 1
}
shift || true
cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"}

if [[ $preset == release ]]; then
  ln -sfn release/hindsight build/hindsight
  echo "build: build/hindsight is $(build/hindsight --version)"
fi
