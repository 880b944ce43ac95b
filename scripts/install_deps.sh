#!/usr/bin/env bash
# Installs all that building and testing needs on a bare Debian 12. As root, or through sudo as a plain user.
# Idempotent: asks dpkg first, and reaches for the network only when something is missing.
set -euo pipefail

packages=(
  ca-certificates git python3                      # a bare root has none of them
  g++ cmake ninja-build pkg-config ccache          # build
  libhwy-dev libfmt-dev libcli11-dev rapidjson-dev # libraries of the program
  libzstd-dev libxxhash-dev
  libsqlite3-dev libssl-dev libboost1.81-dev       # store and server
  libsimdjson-dev prometheus-cpp-dev libspdlog-dev libtomlplusplus-dev
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev
  clang-14 libclang-rt-14-dev                      # fuzzers (libFuzzer, sanitizer run-times)
  clang-format-14 clang-tidy-14                    # checks
  chromium                                         # tests look at the HTML report
  python3-venv wrk curl                            # tests and benchmarks of the server
)
# A newer Node than Debian's is as good; only a missing one is installed.
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
  packages+=(nodejs npm)
fi

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "install_deps: all ${#packages[@]} packages are there"
  exit 0
fi

as_root=()
if [[ $(id -u) -ne 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "install_deps: missing ${missing[*]}; run this as root, or install sudo" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt_get() {
  # The environment is set behind sudo, which would drop it.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600 \
    -o Acquire::Retries=3 "$@" </dev/null
}

echo "install_deps: installing ${missing[*]}"
apt_get update
apt_get install -y --no-install-recommends "${missing[@]}" >/dev/null
echo "install_deps: done"
