#!/usr/bin/env bash
# Installs the Debian packages that are missing. Sourced by demo.sh and test.sh with the names of the package lists.
#   build  to build Halcyon, its examples and tests    demo  the program that it profiles    test  what tests run
set -euo pipefail

declare -A packages=(
  [build]="g++ gfortran cmake ninja-build pkg-config python3 libopenmpi-dev openmpi-bin openssh-client libhdf5-dev
           libpapi-dev libdw-dev libeigen3-dev libboost-dev libcli11-dev libfmt-dev nlohmann-json3-dev libgtest-dev libbenchmark-dev"
  [demo]="lammps"
  [test]="lammps lammps-examples hpcc python3-mpi4py python3-numpy python3-h5py python3-xarray
          python3-netcdf4 python3-pandas python3-matplotlib python3-prometheus-client python3-selenium chromium
          chromium-driver binutils iproute2 clang libclang-rt-14-dev mpich libmpich-dev libhdf5-openmpi-dev libhdf5-mpich-dev
          bash-completion zsh fish man-db groff mandoc lmod lintian mmdebstrap slurmctld slurmd slurm-client munge"
)

install_packages() {
  local list missing=()
  for list in "$@"; do
    local package
    for package in ${packages[$list]}; do
      dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing+=("$package")
    done
  done
  ((${#missing[@]})) || return 0
  echo "Installing ${missing[*]}"
  local as_root=()
  if ((EUID != 0)); then as_root=(sudo); fi
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
