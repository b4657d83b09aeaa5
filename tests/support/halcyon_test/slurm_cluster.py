"""Slurm on one machine, or on hosts of hosts.py: munged, slurmctld and a slurmd for each node, on free ports and in a
directory of their own.

The system's own Slurm and munge are neither read nor changed. All processes end with stop(), or when this process dies.
"""
import getpass
import os
import secrets
import shutil
import socket
import subprocess
import threading
from pathlib import Path

from .processes import adopt_orphans, end_descendants

DAEMONS = ("munged", "slurmctld", "slurmd")
PROGRAMS = (*DAEMONS, "srun", "sbatch", "scancel", "setpriv")
SYSTEM_PATH = "/usr/sbin:/sbin"  # where the daemons are; not in every user's PATH
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


class Cluster:
    """On one machine, jobs go to node `one`, which has `processors`. Node `two` has one. Jobs of several parts use
    both nodes. With `hosts`, each is such a node, and the first is where jobs are started. `settings`:
    further lines of slurm.conf."""

    def __init__(self, directory, mpi, hosts=None, settings=(), processors=2):
        self.directory = Path(directory)
        self.directory.chmod(0o755)  # munged refuses a socket in a directory that others cannot enter
        self.output = []  # lines that the daemons printed
        self.environment = {"SLURM_CONF": str(self.directory / "slurm.conf")}
        self._daemons = []
        self._mpi = mpi
        self._settings = settings
        self._hosts = hosts
        self._nodes = hosts.names if hosts else ("one", "two")
        self._of_host = "/tmp" if hosts else self.directory  # what no two hosts may share; each has a /tmp of its own
        self._processors = [processors] * len(self._nodes) if hosts else [processors, 1]

    def start(self):
        adopt_orphans()  # that the daemons leave behind
        key = self.directory / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        for name in ("state", *self._nodes):
            (self.directory / name).mkdir()
        self._write_configuration()
        configuration = self.environment["SLURM_CONF"]
        first = self._nodes[0]
        for node in self._nodes if self._hosts else [first]:  # each answers for a credential once
            self._daemon(node, "Created 2 work threads", "munged", "--foreground", "--num-threads=2",
                         f"--key-file={key}", f"--socket={self._of_host}/munge",
                         *(f"--{name}-file={self.directory / node / name}" for name in ("pid", "seed")))
        self._daemon(first, "Running as primary controller", "slurmctld", "-D", "-f", configuration)
        for node in self._nodes:
            self._daemon(node, "slurmd started", "slurmd", "-D", "-N", node, "-f", configuration)

    def stop(self):
        if self._daemons:
            cancel = ["scancel", "--full", "--signal=KILL", f"--user={getpass.getuser()}"]
            subprocess.run(self._on(self._nodes[0], cancel), check=False, env={**os.environ, **self.environment},
                           capture_output=True, timeout=GRACE)
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=GRACE)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        end_descendants()

    def _on(self, node, command):
        return self._hosts.on(node, command, **self.environment) if self._hosts else command

    def _daemon(self, node, when_ready, name, *words):
        command = ["setpriv", "--pdeathsig", "TERM", *self._on(node, [name, *words])]
        daemon = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL,
                                  stdin=subprocess.DEVNULL, cwd=self.directory,
                                  env={**os.environ, "PATH": f"{os.environ['PATH']}:{SYSTEM_PATH}"})
        self._daemons.append(daemon)
        for line in daemon.stderr:
            self.output.append(line)
            if when_ready in line:
                threading.Thread(target=self.output.extend, args=(daemon.stderr,), daemon=True).start()
                return
        raise RuntimeError(f"{name} ended with status {daemon.wait()}\n{''.join(self.output)}")

    def _write_configuration(self):
        controller, *ports = free_ports(1 + len(self._nodes))
        host = socket.gethostname().partition(".")[0]
        nodes = [(node, port, *((node, node) if self._hosts else (host, "127.0.0.1")))
                 for node, port in zip(self._nodes, ports)]
        controller_host, controller_address = nodes[0][2:]
        lines = "\n".join(f"NodeName={node} NodeHostname={host} NodeAddr={address} Port={port} CPUs={cpus}"
                          for (node, port, host, address), cpus in zip(nodes, self._processors))
        first = self._nodes[0]
        newline = "\n"
        (self.directory / "slurm.conf").write_text(f"""
ClusterName=halcyon
SlurmctldHost={controller_host}({controller_address})
SlurmUser={getpass.getuser()}
SlurmdUser={getpass.getuser()}
AuthType=auth/munge
AuthInfo=socket={self._of_host}/munge
CredType=cred/munge
SlurmctldPort={controller}
StateSaveLocation={self.directory}/state
SlurmdSpoolDir={self.directory}/%n
SlurmctldPidFile={self.directory}/slurmctld.pid
SlurmdPidFile={self.directory}/slurmd-%n.pid
TmpFS={self._of_host}
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
{newline.join(self._settings)}
{lines}
PartitionName=main Nodes={",".join(self._nodes) if self._hosts else first} Default=YES
PartitionName=both Nodes={",".join(self._nodes)}
""")
