#!/usr/bin/env python3
"""Writes docs/watch.png and, on standard output, its text: `halcyon watch` on a terminal, while LAMMPS runs and a
process on one of its processors disturbs it for a time. Needs what screenshots.py needs."""
import argparse
import fcntl
import html
import os
import pty
import re
import select
import struct
import subprocess
import tempfile
import termios
import time
from pathlib import Path

import programs
from screenshots import HALCYON, photographed

ROWS, COLUMNS = 14, 96
WIDTH = 830  # pixels
QUIET, DISTURBED, AFTER = 100.0, 60.0, 50.0  # seconds
STYLE = {"1": "font-weight:bold", "7": "color:#1d2021;background:#d5c4a1", "1;31": "font-weight:bold;color:#fb4934"}
PAGE = """<!doctype html><meta charset="utf-8"><body style="margin:0;background:#1d2021">
<pre style="margin:12px;color:#ebdbb2;font:14px/1.3 'DejaVu Sans Mono',monospace">{}</pre>"""


def last_frame(seconds, environment):
    """What the view shows after so many seconds, as lines with their styles (SGR)."""
    own, theirs = pty.openpty()
    fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    shown = b""
    with subprocess.Popen([HALCYON, "watch"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
                          start_new_session=True) as watching:
        os.close(theirs)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([own], [], [], 1.0)[0]:
                shown = (shown + os.read(own, 65536))[-100000:]
        watching.terminate()
    os.close(own)
    frames = re.findall(r"\x1b\[H(.*?)\x1b\[J", shown.decode(errors="replace"), re.S)
    return frames[-1].replace("\x1b[K", "").replace("\r", "").rstrip()


def as_html(frame):
    text = ""
    for style, plain in re.findall(r"(?:\x1b\[([0-9;]*)m)?([^\x1b]*)", frame):
        text += f'<span style="{STYLE[style]}">{html.escape(plain)}</span>' if style in STYLE else html.escape(plain)
    return PAGE.format(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, default=programs.SOURCE / "docs", help="directory of the picture")
    output = parser.parse_args().output
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        environment = {**programs.environment(), "XDG_STATE_HOME": str(scratch / "state"), "TERM": "xterm"}
        script = (programs.SOURCE / "examples" / "lj.in").read_text()
        (scratch / "lj.in").write_text(re.sub(r"^run .*", "run 100000000", script, flags=re.M))
        launch = ["mpirun", "-np", str(programs.RANKS), *programs.lammps("lj.in")]
        with subprocess.Popen([HALCYON, "run", "--no-baseline", "--", *launch], cwd=scratch, env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            time.sleep(2.0)
            disturb = f"sleep {QUIET}; {HALCYON} disturb cpu:throughout --for {DISTURBED:.0f}s"
            with subprocess.Popen(["sh", "-c", disturb], stderr=subprocess.DEVNULL):
                frame = last_frame(QUIET + DISTURBED + AFTER, environment)
            running.terminate()
        print(re.sub(r"\x1b\[[0-9;]*m", "", frame))
        page = scratch / "watch.html"
        page.write_text(as_html(frame))
        photographed(page, output / "watch.png", WIDTH)


if __name__ == "__main__":
    main()
