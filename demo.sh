#!/usr/bin/env bash
# Profiles LAMMPS twice, quietly and with injected delays, and prints both verdicts. Needs Debian 12, as root or with sudo;
# installs what is missing, builds, and leaves everything under build/.
set -euo pipefail
cd "$(dirname "$0")"
source cmake/install-packages.sh
install_packages build demo

cmake --preset release -DHALCYON_BUILD_TESTS=OFF >/dev/null
cmake --build --preset release

# Open MPI refuses to start as root unless it is told twice; a container or a fresh machine often has no other user.
if ((EUID == 0)); then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
halcyon=$PWD/build/release/bin/halcyon
input=$PWD/examples/lj.in
results=$(mktemp -d "$PWD/build/demo.XXXXXX")
cd "$results"

echo "== LAMMPS, left alone"
"$halcyon" run -o quiet.h5 -- mpirun -np 2 lmp -in "$input" -log none -screen none
echo "== LAMMPS, with 50 ms added to 3 of 10 000 MPI and file calls"
INTM_SEED=1 "$halcyon" run -o disturbed.h5 --inject class=all,prob=0.0003,mean=50ms,sd=5ms -- \
  mpirun -np 2 lmp -in "$input" -log none -screen none
echo
"$halcyon" report quiet.h5 disturbed.h5
echo "The profiles are in $results"
