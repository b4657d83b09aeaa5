"""Writes the wheel: the installation as it is, which pip puts into the environment's bin, lib, libexec and share, where
the command and the libraries find each other as in any other prefix; and the reader as module `halcyon`.
"""
import base64
import hashlib
import stat
import time
import zipfile

NAME = "halcyon_mpi"
LEFT_OUT = ("lib/cmake", "share/pkgconfig", "share/modulefiles", "share/halcyon", "share/doc/halcyon/docs")
METADATA = """Metadata-Version: 2.1
Name: halcyon-mpi
Version: {version}
Summary: Tells from one run of an MPI program how much of its time came from outside
License: BSD-3-Clause
Author: The Halcyon authors
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: System :: Distributed Computing
Requires-Python: >=3.8
Provides-Extra: reader
Requires-Dist: h5py; extra == "reader"
Requires-Dist: numpy; extra == "reader"
Requires-Dist: pandas; extra == "reader"
Requires-Dist: xarray; extra == "reader"
Description-Content-Type: text/markdown

Records an MPI program, which is neither changed nor rebuilt, and tells how much of its run time came from outside:

    halcyon run -- mpirun -np 2 python prog.py

The module `halcyon` reads profiles into xarray and pandas: `pip install halcyon-mpi[reader]`.
"""


def write_wheel(place, into, version, glibc, architecture, date):
    """Of the installation at `place`; its path."""
    tags = [f"manylinux_{glibc.replace('.', '_')}_{architecture}"]
    if glibc == "2.17":
        tags.append(f"manylinux2014_{architecture}")  # the same, for older versions of pip
    about = f"{NAME}-{version}.dist-info"
    data = f"{NAME}-{version}.data"
    lines = ["Wheel-Version: 1.0", "Generator: halcyon", "Root-Is-Purelib: false",
             *(f"Tag: py3-none-{tag}" for tag in tags), ""]
    files = {"halcyon.py": (place / "share/halcyon/python/halcyon.py").read_bytes()}
    programs = set()
    for path in sorted(place.rglob("*")):
        name = str(path.relative_to(place))
        if not path.is_file() or name.startswith(LEFT_OUT):
            continue
        name = f"{data}/scripts/{path.name}" if name.startswith("bin/") else f"{data}/data/{name}"
        files[name] = path.read_bytes()
        if path.stat().st_mode & stat.S_IXUSR:
            programs.add(name)
    files[f"{about}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{about}/WHEEL"] = "\n".join(lines).encode()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()

    path = into / f"{NAME}-{version}-py3-none-{'.'.join(tags)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(date)[:6])
            entry.external_attr = (stat.S_IFREG | (0o755 if name in programs else 0o644)) << 16
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return path


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
