#!/usr/bin/env bash
# Fuzzes one target for a while, starting from its seeds and from what earlier runs found.
#   scripts/fuzz.sh fuzz_save_format [seconds [seed]]     seed 0, the default: another one every time
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=$1
seconds=${2:-60}
seed=${3:-0}

# libFuzzer writes what it finds into the first folder and reads the others.
found=build/fuzz/corpus/$target
seeds=build/fuzz/seeds/$target
mkdir -p "$found" "$seeds" build/fuzz/crashes
"build/fuzz/fuzz/$target" -max_total_time="$seconds" -seed="$seed" -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
  -artifact_prefix="build/fuzz/crashes/$target-" "$found" "$seeds"
