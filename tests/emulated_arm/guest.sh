#!/bin/sh
# Runs in the emulated machine. What a step prints stands between its name and its status; the profiles come last, as
# text, since the machine has nothing but its console.
export PATH=/halcyon/bin:/usr/bin:/bin HOME=/tmp TMPDIR=/tmp LC_ALL=C
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# One processor, whose ranks wait for each other: those that wait leave it.
export OMPI_MCA_plm=isolated OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
mkdir -p /tmp/run && cd /tmp/run || exit

# Of a build, or of an installation.
for library in /halcyon/lib/libhalcyon.so /halcyon/lib/halcyon/libhalcyon.so; do
  [ ! -e $library ] || break
done
step() {
  name=$1
  shift
  echo "step $name"
  "$@" >printed 2>&1
  status=$?
  cat printed
  echo "status $name $status"
}
record() {
  file=$1 ranks=$2
  shift 2
  step "$file" mpirun -np "$ranks" -x LD_PRELOAD=$library -x "HALCYON_OUTPUT=/tmp/run/$file.h5" "$@"
}

step doctor halcyon doctor -- mpirun -np 2 kinds 1 alone
step clock_reads clock_reads
record counted 2 kinds 60 alone
record beside 1 kinds 60 beside
record thread 1 kinds 60 thread
record twice 2 kinds 60 twice
record cpu_time 2 -x HALCYON_COUNTER=cpu kinds 60 alone
step killed halcyon run -o killed.h5 --no-baseline -- mpirun -np 2 dies 60 killed 1
record recovered 2 dies 60 abort 1
step recover halcyon recover recovered.h5.parts
step injected halcyon run -o injected.h5 --no-baseline --inject class=collective,prob=0.1,mean=10ms,sd=1ms -- \
  mpirun -np 2 kinds 60 alone
step reported halcyon report --no-baseline --json - injected.h5

echo "profiles begin"
tar -c -f - ./*.h5 | gzip | base64
echo "profiles end"
