"""A new minimal Debian in a directory, which tests enter as root."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from .commands import TIME_LIMIT, Finished, output_of


class NoDebian(Exception):
    """A Debian cannot be had or entered here; says why."""


def this_release():
    return re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(encoding="utf-8"), re.M)[1]


class Debian:
    """A Debian of a release, or of this machine's, from this machine's mirror, with these packages."""

    def __init__(self, directory, *packages, release=None):
        for program in ("mmdebstrap", "unshare", "chroot"):
            if shutil.which(program) is None:
                raise NoDebian(f"no {program}")
        if os.geteuid() != 0:
            raise NoDebian("not root")
        if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False).returncode:
            raise NoDebian("no right to unshare --mount")
        mirrors = output_of(["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages",
                             f"Codename: {this_release()}"]).split()
        if not mirrors:
            raise NoDebian(f"apt knows no mirror of {this_release()}")
        self.root = directory
        try:
            output_of(["mmdebstrap", "--quiet", "--variant=minbase", "--skip=cleanup/apt/lists",
                       "--dpkgopt=force-unsafe-io", "--aptopt=APT::Install-Recommends \"false\"",
                       f"--include={','.join(packages)}", release or this_release(), directory, mirrors[0]])
        except subprocess.CalledProcessError as error:
            raise NoDebian(f"none could be had from {mirrors[0]}: {error.stderr.strip().splitlines()[-1:]}") from None
        shutil.copy("/etc/resolv.conf", directory / "etc")
        # MPICH 3 ends where this machine's name has no address.
        (directory / "etc/hosts").write_text(f"127.0.0.1 localhost {os.uname().nodename}\n", encoding="utf-8")

    def enter(self, *words, **environment):
        """Runs a command there, as root and with an environment of its own; what it printed."""
        settings = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive",
                    "LANG": "C.UTF-8", **environment}
        result = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={self.root}/proc",
             "chroot", self.root, "env", "-i", *(f"{name}={value}" for name, value in settings.items()), *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
        assert result.returncode == 0, Finished(result)
        return result.stdout
