"""Slurm on one machine: munged, slurmctld and two slurmd, on free ports and in a directory of their own.

The system's own Slurm and munge are neither read nor changed. All processes end with stop(), or when this process dies.
"""
import ctypes
import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import threading
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
PROGRAMS = (*DAEMONS, "srun", "sbatch", "scancel", "setpriv")
SYSTEM_PATH = "/usr/sbin:/sbin"  # where the daemons are; not in every user's PATH
CHILD_SUBREAPER = 36  # of prctl: processes that a daemon leaves behind become our children
GRACE = 30  # seconds until what does not stop is killed


def missing():
    """Names of the programs that the cluster needs and the machine does not have."""
    return [name for name in PROGRAMS if shutil.which(name, path=f"{os.environ['PATH']}:{SYSTEM_PATH}") is None]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def children():
    """Process numbers of our children, ended ones included."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:  # has just ended
            continue
        if parent == os.getpid():
            found.append(int(stat.parent.name))
    return found


class Cluster:
    """Jobs go to node `one`, which has two processors. Node `two` has one. Jobs of several parts use both nodes."""

    def __init__(self, directory, mpi):
        self.directory = Path(directory)
        self.directory.chmod(0o755)  # munged refuses a socket in a directory that others cannot enter
        self.output = []  # lines that the daemons printed
        self.environment = {"SLURM_CONF": str(self.directory / "slurm.conf")}
        self._daemons = []
        self._mpi = mpi

    def start(self):
        ctypes.CDLL(None).prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
        key = self.directory / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        for name in ("state", "one", "two"):
            (self.directory / name).mkdir()
        self._write_configuration()
        self._daemon("Created 2 work threads", "munged", "--foreground", "--num-threads=2", f"--key-file={key}",
                     *(f"--{name}={self.directory / file}" for name, file in
                       (("socket", "munge"), ("pid-file", "munged.pid"), ("seed-file", "seed"))))
        configuration = self.environment["SLURM_CONF"]
        self._daemon("Running as primary controller", "slurmctld", "-D", "-f", configuration)
        for node in ("one", "two"):
            self._daemon("slurmd started", "slurmd", "-D", "-N", node, "-f", configuration)

    def stop(self):
        if self._daemons:
            subprocess.run(["scancel", "--full", "--signal=KILL", f"--user={getpass.getuser()}"], check=False,
                           env={**os.environ, **self.environment}, capture_output=True, timeout=GRACE)
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=GRACE)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        while left := children():
            for process in left:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)

    def _daemon(self, when_ready, name, *words):
        daemon = subprocess.Popen(["setpriv", "--pdeathsig", "TERM", name, *words], stderr=subprocess.PIPE, text=True,
                                  stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd=self.directory,
                                  env={**os.environ, "PATH": f"{os.environ['PATH']}:{SYSTEM_PATH}"})
        self._daemons.append(daemon)
        for line in daemon.stderr:
            self.output.append(line)
            if when_ready in line:
                threading.Thread(target=self.output.extend, args=(daemon.stderr,), daemon=True).start()
                return
        raise RuntimeError(f"{name} ended with status {daemon.wait()}\n{''.join(self.output)}")

    def _write_configuration(self):
        controller, first, second = free_ports(3)
        host = socket.gethostname().partition(".")[0]
        (self.directory / "slurm.conf").write_text(f"""
ClusterName=halcyon
SlurmctldHost={host}(127.0.0.1)
SlurmUser={getpass.getuser()}
SlurmdUser={getpass.getuser()}
AuthType=auth/munge
AuthInfo=socket={self.directory}/munge
CredType=cred/munge
SlurmctldPort={controller}
StateSaveLocation={self.directory}/state
SlurmdSpoolDir={self.directory}/%n
SlurmctldPidFile={self.directory}/slurmctld.pid
SlurmdPidFile={self.directory}/slurmd-%n.pid
TmpFS={self.directory}
MailProg=/bin/true
MpiDefault={self._mpi}
# Neither control groups nor binding, which a container may not have.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
# Jobs start and end at once.
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=2
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=1
PartitionName=main Nodes=one Default=YES
PartitionName=both Nodes=one,two
""")
