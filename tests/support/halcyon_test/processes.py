"""The processes of a test: nothing that it has started outlives it, however it ends."""
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36  # of prctl
STEP = 0.01  # seconds between two looks at processes that have been killed
ASKS_TO_END = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def prctl(what, value):
    ctypes.CDLL(None).prctl(what, value, 0, 0, 0)


def adopt_orphans():
    """From now on, descendants that lose their parent become children of this process."""
    prctl(SET_CHILD_SUBREAPER, 1)


def descendants():
    """Process numbers of all descendants of this process, ended ones included."""
    children = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
        except OSError:  # has just ended
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [os.getpid()]
    for process in found:
        found += children.get(process, [])
    return found[1:]


def processes_with(variable, value):
    """Process numbers of all that have this environment variable."""
    setting = f"{variable}={value}".encode()
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            if setting in environment.read_bytes().split(b"\0"):
                found.append(int(environment.parent.name))
        except OSError:  # another user's, or it has just ended
            continue
    return found


def processes_of(program, word):
    """Process numbers of all of this program that have this word in their command line."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command.read_bytes().split(b"\0")
        except OSError:  # it has just ended
            continue
        if words[0].endswith(b"/" + program.encode()) and str(word).encode() in words:
            found.append(int(command.parent.name))
    return found


def kill(processes):
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass


def end_descendants():
    """Ends all descendants of a process that has adopted their orphans, and takes their statuses."""
    while left := descendants():
        kill(left)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(STEP)


def end_all_with(variable, value):
    """Ends all processes that have this environment variable."""
    while left := processes_with(variable, value):
        kill(left)
        time.sleep(STEP)


def guarded(work):
    """Calls `work` in a child, and returns its exit status when nothing that it has started runs any more: also if the
    child is killed, or if this process is asked to end."""
    def end(number, _):
        end_descendants()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    adopt_orphans()
    for number in ASKS_TO_END:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, end)
    guardian, child = os.getpid(), os.fork()
    if child == 0:
        prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)  # if the guardian is killed
        sys.exit(work() if os.getppid() == guardian else 1)
    ended = status = None
    while ended != child:
        ended, status = os.waitpid(-1, 0)
    end_descendants()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code
