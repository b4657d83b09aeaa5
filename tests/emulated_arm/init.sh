#!/bin/busybox sh
# The first process of the emulated machine: what MPI and the recorder need, then guest.sh, and off.
/bin/busybox mkdir -p /proc /sys /dev /tmp /bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
ifconfig lo up
hostname emulated
echo 2 >/proc/sys/kernel/perf_event_paranoid
stty -onlcr
sh /guest.sh </dev/null
poweroff -f
