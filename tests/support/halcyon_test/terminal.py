"""A command on a pseudo-terminal."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from .commands import TIME_LIMIT


class Terminal:
    """A command that runs on a pseudo-terminal, and what it shows there."""

    def __init__(self, command, environment, directory):
        self.own, theirs = pty.openpty()
        self.resize(24, 100)
        self.before = termios.tcgetattr(self.own)
        self.shown = ""
        self.process = subprocess.Popen([str(word) for word in command], stdin=theirs, stdout=theirs, stderr=theirs,
                                        cwd=directory, env=environment, start_new_session=True)
        os.close(theirs)

    def resize(self, rows, columns):
        fcntl.ioctl(self.own, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        self.shown = ""
        os.write(self.own, keys.encode())

    def takes_more(self, seconds):
        """Adds to `shown` what comes within this time. False if the other side is closed."""
        try:
            if select.select([self.own], [], [], seconds)[0]:
                self.shown += os.read(self.own, 65536).decode(errors="replace")
        except OSError:
            return False
        return True

    def wait_for(self, text):
        end = time.monotonic() + TIME_LIMIT
        while text not in self.shown:
            if time.monotonic() > end:
                raise AssertionError(f"{text!r} is not in {self.shown!r}")
            if not self.takes_more(1.0):
                raise AssertionError(f"{text!r} is not in {self.shown!r}")

    def read_to_the_end(self):
        """All that the command shows until it ends."""
        end = time.monotonic() + TIME_LIMIT
        while self.process.poll() is None or select.select([self.own], [], [], 0.0)[0]:
            if time.monotonic() > end:
                raise AssertionError(f"it does not end: {self.shown!r}")
            if not self.takes_more(0.1):
                break
        return self.shown

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.own)
