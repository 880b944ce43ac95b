#!/usr/bin/env bash
# Configures and builds a preset (release by default) and leaves the release program at build/hindsight.
#   scripts/build.sh [release|asan|tsan|fuzz]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${1:-release}

# One compiler cache serves every clone.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

scripts/web_deps.sh
cmake --preset "$preset" >"/tmp/hindsight-configure.$$" || {
  cat "/tmp/hindsight-configure.$$"
  rm -f "/tmp/hindsight-configure.$$"
  exit 1
}
rm -f "/tmp/hindsight-configure.$$"
cmake --build --preset "$preset" -j "$(nproc)"

if [[ $preset == release ]]; then
  ln -sfn release/hindsight build/hindsight
  echo "build: build/hindsight is $(build/hindsight --version)"
fi
