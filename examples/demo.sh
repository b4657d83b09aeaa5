#!/usr/bin/env bash
# Profiles LAMMPS twice, quietly and with injected delays, and prints both verdicts. Needs mpirun and lmp (Debian:
# openmpi-bin, lammps); profiles go into a new directory below the present one.
# usage: demo.sh [HALCYON]   HALCYON is the command to use, by default the one in PATH
set -euo pipefail
if ! halcyon=$(command -v "${1:-halcyon}"); then
  echo "demo.sh: there is no command ${1:-halcyon}: is it installed and in PATH?" >&2
  exit 2
fi
halcyon=$(realpath "$halcyon")
input=$(realpath "$(dirname "$0")/lj.in")

# Open MPI starts as root only if both variables are set; a container or a new machine often has no other user.
if ((EUID == 0)); then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
results=$(mktemp -d "$PWD/halcyon-demo.XXXXXX")
cd "$results"

echo "== LAMMPS without injected delays"
"$halcyon" run -o quiet.h5 -- mpirun -np 2 lmp -in "$input" -log none -screen none
echo "== LAMMPS with a delay of 50 ms in 3 of 10 000 MPI and file calls"
INTM_SEED=1 "$halcyon" run -o disturbed.h5 --inject class=all,prob=0.0003,mean=50ms,sd=5ms -- \
  mpirun -np 2 lmp -in "$input" -log none -screen none
echo
"$halcyon" report quiet.h5 disturbed.h5
if ! "$halcyon" report quiet.h5 --fail-on yellow >/dev/null; then
  echo "The run without injected delays is not green: something else uses this machine, and the first report shows it."
fi
echo "The profiles are in $results"
