#!/usr/bin/env bash
# Builds with warnings as errors and tests. Needs Debian 12, as root or with sudo; installs what is missing.
set -euo pipefail
cd "$(dirname "$0")"

tests=ci
case "$*" in
  "") ;;
  --long) tests=long ;;
  *)
    [[ $* == --help ]] || exec >&2
    echo "usage: ./test.sh [--long]"
    echo "Installs what is missing, builds and tests: every behaviour once, and with other MPI libraries where these"
    echo "matter. --long: every behaviour with every MPI library, long fuzzing, the suites under sanitizers, the Debian"
    echo "package, aarch64 on emulated machines (this installs a compiler for it, and qemu), and the programs of bench/ are"
    echo "built. Run it before a change of the recorder or of the file is finished."
    [[ $* == --help ]]
    exit
    ;;
esac

source cmake/install-packages.sh
install_packages build test
if [[ $tests == long ]]; then install_packages arm64 emulate; fi
install_wheels build/wheels

cmake --preset ci >/dev/null
cmake --build --preset "$tests"
status=0
# Most tests wait for launchers more than half of the time.
ctest --preset "$tests" --parallel "$((2 * $(nproc) + 1))" || status=$?
tests/summary build/tests.xml
exit "$status"
