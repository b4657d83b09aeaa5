"""Hosts on this machine for a test: namespaces with a network of their own, by tests/support/hosts."""
import shlex
import subprocess
import tempfile
from pathlib import Path

SUPPORT = Path(__file__).resolve().parents[1]
ENTER = SUPPORT / "on_host"  # takes the place of ssh
LONGEST_END = 30  # seconds


class NoHosts(Exception):
    """Hosts cannot be made here; says why."""


class Hosts:
    """Hosts of these names. All see `directory` and the system's files, but each has a /tmp and /dev/shm of its own."""

    def __init__(self, *names, links=None):
        """`links`: how the link of a host is disturbed, as tests/support/hosts takes it, such as {"host-b": "loss=1"}."""
        self.names = names
        self._place = tempfile.TemporaryDirectory(prefix="halcyon-hosts-", ignore_cleanup_errors=True)
        self.directory = Path(self._place.name)
        self.directory.chmod(0o755)  # as that of a shared file system
        requested = [f"{name},{links[name]}" if name in (links or {}) else name for name in names]
        # The kernel ends it, and so the hosts, if this process is killed.
        self._supervisor = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", SUPPORT / "hosts", self.directory,
                                             *requested], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE)
        if self._supervisor.stdout.readline() != "ready\n":
            self._supervisor.kill()
            why = self._supervisor.communicate()[1].strip().splitlines()
            self._place.cleanup()
            raise NoHosts(why[-1] if why else "they ended without a word")

    def end(self):
        self._supervisor.kill()
        self._supervisor.communicate(timeout=LONGEST_END)
        self._place.cleanup()

    def scratch_directory(self):
        """A new directory that all hosts see. It ends with them."""
        return Path(tempfile.mkdtemp(dir=self.directory))

    def on(self, host, command, directory=None, **environment):
        """The words that run a command on a host. It is run in a directory that all hosts see, with these variables."""
        variables = [f"{name}={value}" for name, value in environment.items()]
        words = shlex.join(str(word) for word in ["env", *variables, *command])
        return ["env", f"HALCYON_TEST_HOSTS={self.directory}", str(ENTER), host,
                f"cd {shlex.quote(str(directory or self.directory))} && exec {words}"]
