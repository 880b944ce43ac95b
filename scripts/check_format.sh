#!/usr/bin/env bash
# Fails when clang-format would change a C++ file, tracked or about to be.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# The clone may belong to another user than the one who checks it.
mapfile -t files < <(git -c safe.directory='*' ls-files -co --exclude-standard '*.cc' '*.h' | sort -u)
existing=()
for file in "${files[@]}"; do
  [[ -f $file ]] && existing+=("$file")
done
if ((${#existing[@]} == 0)); then
  echo "check_format: found no C++ file; is this a git clone?" >&2
  exit 1
fi
clang-format-14 --dry-run -Werror "${existing[@]}"
echo "check_format: ${#existing[@]} files are well formatted"
