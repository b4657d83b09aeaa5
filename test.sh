#!/usr/bin/env bash
# Builds with warnings as errors and runs all tests. Needs Debian 12, as root or with sudo; installs what is missing.
set -euo pipefail
cd "$(dirname "$0")"
source cmake/install-packages.sh
install_packages build test
install_wheels build/wheels

cmake --preset ci >/dev/null
cmake --build --preset ci
ctest --preset ci --parallel "$((2 * $(nproc) + 1))"  # most tests wait for launchers more than half of the time
