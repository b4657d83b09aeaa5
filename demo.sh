#!/usr/bin/env bash
# Profiles LAMMPS twice, quietly and with injected delays, and prints both verdicts. Needs Debian 12, as root or with sudo;
# installs what is missing, builds, and leaves everything under build/. With an installed halcyon: examples/demo.sh.
set -euo pipefail
cd "$(dirname "$0")"
source cmake/install-packages.sh
install_packages build demo

cmake --preset release -DHALCYON_BUILD_TESTS=OFF >/dev/null
cmake --build --preset release --target halcyon halcyon-write recorder injector
cd build
exec ../examples/demo.sh release/bin/halcyon
