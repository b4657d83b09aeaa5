"""The machine: which processes run, and whether others use its processors."""
import os
import resource
from pathlib import Path

MOST_FOREIGN_CPU = 0.05  # of one processor. A machine whose other processes use more during a run is not quiet


def processes_that_name(text):
    """Other processes with the text in their command line. A forked child has its parent's command line."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if int(directory.name) != os.getpid() and os.fsencode(text) in (directory / "cmdline").read_bytes():
                found.append(int(directory.name))
        except OSError:
            pass  # it has ended
    return found


def foreign_cpu_seconds():
    """CPU time since the machine started that was not used by children of this process. Stolen time is included."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = (int(field) / os.sysconf("SC_CLK_TCK") for field in fields)
    ours = resource.getrusage(resource.RUSAGE_CHILDREN)
    return user + nice + system + irq + softirq + steal - ours.ru_utime - ours.ru_stime
