"""What is linked into the portable release, or compiled into it from headers: where each comes from, pinned by version
and checksum, its license, and how it is built for an architecture. All are packages of Debian, but for the compiler,
which is a wheel.
"""
import dataclasses
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile

GLIBC = "2.17"  # the oldest that the release runs with
MIRROR = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
COMPILER = "ziglang==0.17.1 --hash=sha256:ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54"

# Its own libraries are always linked in, and hidden: it knows no options for that.
COMPILES = """#!/bin/sh
for word do
  shift
  case $word in -static-lib*|-Wl,--exclude-libs,ALL) ;; *) set -- "$@" "$word" ;; esac
done
exec "{zig}" {language} -target {triplet}.{glibc} -mcpu={cpu} -fno-sanitize=undefined \\
  -ffile-prefix-map="{directory}"=. "$@"
"""
ARCHIVES = """#!/bin/sh
exec "{zig}" {program} "$@"
"""


class Failure(Exception):
    """Ends the release; the text says why."""


@dataclasses.dataclass(frozen=True)
class Part:
    """Something that is in the release. `package` is Debian's, with its version; `file` is what apt downloads.
    `corrections`, the checksum of Debian's packaging, says that its patches are applied.
    """
    name: str
    package: str
    version: str
    license: str  # as SPDX writes it
    file: str
    sha256: str
    corrections: str = ""

    @property
    def packaging(self):
        """Debian's part of a source package."""
        return f"{self.package}_{self.version.split(':')[-1]}.debian.tar.xz"

    @property
    def files(self):
        """Each with its checksum."""
        return {self.file: self.sha256, **({self.packaging: self.corrections} if self.corrections else {})}


SOURCES = (
    Part("zlib", "zlib", "1:1.2.13.dfsg-1", "Zlib", "zlib_1.2.13.dfsg.orig.tar.bz2",
         "71feb7947e3c00ef125f83b79a4e529bde31171e5babe48b391f06758d1ab0a1"),
    Part("hdf5", "hdf5", "1.10.8+repack1-1", "BSD-3-Clause", "hdf5_1.10.8+repack1.orig.tar.gz",
         "7b38e58ff83b13fd8959a90b13bf896bc318ba096c940ab0847abf3ad41a0b31"),
    Part("fmt", "fmtlib", "9.1.0+ds1-2", "MIT", "fmtlib_9.1.0+ds1.orig.tar.gz",
         "84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583"),
    Part("re2", "re2", "20220601+dfsg-1", "BSD-3-Clause", "re2_20220601+dfsg.orig.tar.xz",
         "3bc61251da3b0b97be40a8a127818c517c62516e4eda11fc901d29496663df54"),
    Part("sqlite", "sqlite3", "3.40.1-2+deb12u2", "blessing", "sqlite3_3.40.1.orig.tar.xz",
         "aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655",
         corrections="0843bc12e4364076477935ce313a6d0796fd899a989ff18ebb6545540e10e4ca"),
    # Of Debian 13: clang does not compile that of Debian 12.
    Part("elfutils", "elfutils", "0.192-4", "GPL-2.0-or-later OR LGPL-3.0-or-later", "elfutils_0.192.orig.tar.bz2",
         "616099beae24aba11f9b63d86ca6cc8d566d968b802391334c91df54eab416b4"),
)
# Of amd64 where a package is not of all architectures: what it has is the same on each.
HEADERS = (
    Part("eigen", "libeigen3-dev", "3.4.0-4", "MPL-2.0", "libeigen3-dev_3.4.0-4_all.deb",
         "1a167bb381acb90c1d8450a8f3e66a09d216dbc64b33ac8a082a0912513ef939"),
    Part("boost", "libboost1.74-dev", "1.74.0+ds1-21", "BSL-1.0", "libboost1.74-dev_1.74.0+ds1-21_amd64.deb",
         "ba14fe04d7f138f874bd3ab3a20c4fd1e9f654e271449b8f3e48d20f942dbb93"),
    Part("cli11", "libcli11-dev", "2.1.2+ds-1", "BSD-3-Clause", "libcli11-dev_2.1.2+ds-1_all.deb",
         "f1f6ee9ec053e0e0bcec47345e241b6a8ee006321248b4329e9ce88d2b4b64a8"),
    Part("nlohmann-json", "nlohmann-json3-dev", "3.11.2-2", "MIT", "nlohmann-json3-dev_3.11.2-2_all.deb",
         "ec57940def6b6186c30be0e0ee81d1e58f86d11a54a145b28686a1e3e4aae801"),
    Part("xxhash", "libxxhash-dev", "0.8.1-1", "BSD-2-Clause", "libxxhash-dev_0.8.1-1_amd64.deb",
         "47e8309c6163f5ffa910520f6502cc264fda93dbb58ada840db4838575a86151"),
    # Tables of RE2 are made of it.
    Part("unicode-data", "unicode-data", "15.0.0-1", "Unicode-DFS-2016", "unicode-data_15.0.0-1_all.deb",
         "5efef23bbb1c6a133ecbdd63a2cfa07159ccacf5466a49e2426101c5ecd691fc"),
)


@dataclasses.dataclass(frozen=True)
class Architecture:
    """What a release is for. `name` is the kernel's; `cpu` is the least that it runs on, by the compiler's name."""
    name: str
    cpu: str
    debian: str
    headers: tuple

    @property
    def triplet(self):
        return f"{self.name}-linux-gnu"


ARCHITECTURES = {architecture.name: architecture for architecture in (
    Architecture("x86_64", "x86_64", "amd64", (
        Part("papi", "libpapi-dev", "7.0.0-2", "BSD-3-Clause", "libpapi-dev_7.0.0-2_amd64.deb",
             "775bb08b236eb4c147a06893271c7cbcf8a0505bb5c4a42dbd54aa169a36bcf8"),
        Part("openmpi", "libopenmpi-dev", "4.1.4-3+b1", "BSD-3-Clause", "libopenmpi-dev_4.1.4-3+b1_amd64.deb",
             "089c17e74439e53ad6cab5f11d935bc9df93b26da0bd87b2b72eb789b467bea2"),
        Part("mpich", "libmpich-dev", "4.0.2-3+b1", "mpich2", "libmpich-dev_4.0.2-3+b1_amd64.deb",
             "d7fc62d292e0ff3a08a73b5293cb38e8ffdbcc31ff93c1ca12ab448b3d6140dc"),
    )),
    Architecture("aarch64", "generic", "arm64", (
        Part("papi", "libpapi-dev", "7.0.0-2", "BSD-3-Clause", "libpapi-dev_7.0.0-2_arm64.deb",
             "a77d038fefdc7f888b21c5068932a470fbe332d536b1358887790011ba1c6c22"),
        Part("openmpi", "libopenmpi-dev", "4.1.4-3+b1", "BSD-3-Clause", "libopenmpi-dev_4.1.4-3+b1_arm64.deb",
             "bfb23a3edd52df4c3a620065b4877ef03c7648ffca4ac21f8e8b83cc627b168e"),
        Part("mpich", "libmpich-dev", "4.0.2-3+b1", "mpich2", "libmpich-dev_4.0.2-3+b1_arm64.deb",
             "d8dd53b6daf9c4e9dcb30daead54b5829a44d6da9f964dbaf70c61fd7c4485c4"),
    )),
)}


class Workshop:
    """A directory in which all of this is downloaded, unpacked and built for an architecture, whose own directory is
    below it; what is there already is not made again.
    """

    def __init__(self, shared, architecture):
        self.shared = shared
        self.architecture = architecture
        self.downloads = shared / "downloads"
        self.zig = shared / "compiler/ziglang/zig"
        self.headers = shared / "headers/usr"  # of packages of Debian, which need not be installed
        self.directory = shared / architecture.name
        self.prefix = self.directory / "prefix"  # of the static libraries
        self.cc, self.cxx = self.directory / "cc", self.directory / "c++"
        self.ar, self.ranlib = self.directory / "ar", self.directory / "ranlib"
        self.cc_of_this_machine = self.directory / "cc-of-this-machine"  # for programs that a build runs
        self.jobs = str(len(os.sched_getaffinity(0)))
        self.emulator = []  # runs programs of the architecture

    def run(self, *words, into=None, **environment):
        """Runs a program in `into`; what it says is kept in a log, and shown if it fails."""
        log = self.directory / "log"
        with log.open("w", encoding="utf-8") as file:
            status = subprocess.run([str(word) for word in words], cwd=into, stdin=subprocess.DEVNULL, stdout=file,
                                    stderr=subprocess.STDOUT, env={**os.environ, **environment}, check=False).returncode
        said = log.read_text(encoding="utf-8", errors="replace")
        if status != 0:
            raise Failure(f"{said[-4000:]}\n{' '.join(map(str, words))} ended with status {status}")
        return said

    def prepare(self, say):
        for directory in (self.downloads, self.prefix / "lib/pkgconfig", self.prefix / "include"):
            directory.mkdir(parents=True, exist_ok=True)
        say("compiler, sources and headers")
        self.install_compiler()
        self.download()
        if self.architecture.name != os.uname().machine:
            self.install_emulated()
        missing = [part for part in SOURCES if not self.is_built(part)]
        say(f"{len(SOURCES)} libraries to be linked in, of which {len(missing) or 'none'} must be built")
        for part in missing:
            say(f"{part.name} {part.version}")
            globals()[f"build_{part.name}"](self, self.unpacked(part))
            self.mark(part).write_text(repr(part), encoding="utf-8")

    def mark(self, part):
        """Says of which sources a part was built."""
        return self.directory / f"{part.name}.built"

    def is_built(self, part):
        mark = self.mark(part)
        return mark.exists() and mark.read_text(encoding="utf-8") == repr(part)

    def install_compiler(self):
        """Two compilers that link with the glibc of then, whatever this machine has. The C++ library is linked in."""
        if not self.zig.exists():
            requirement = self.shared / "compiler.txt"
            requirement.write_text(COMPILER + "\n")
            self.run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:",
                     "--require-hashes", "--target", self.shared / "compiler", "-r", requirement)
        for program, language, architecture in (
                (self.cc, "cc", self.architecture), (self.cxx, "c++", self.architecture),
                (self.cc_of_this_machine, "cc", ARCHITECTURES[os.uname().machine])):
            program.write_text(COMPILES.format(zig=self.zig, language=language, triplet=architecture.triplet,
                                               glibc=GLIBC, cpu=architecture.cpu, directory=self.shared))
            program.chmod(0o755)
        for program in (self.ar, self.ranlib):
            program.write_text(ARCHIVES.format(zig=self.zig, program=program.name))
            program.chmod(0o755)

    def apt(self, *words):
        """Of no system, but in a directory of its own."""
        apt = self.shared / "apt"
        (apt / "lists/partial").mkdir(parents=True, exist_ok=True)
        (apt / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
        lines = [f"{kind} [signed-by={KEYRING}] {MIRROR} {release} main"
                 for kind, release in (("deb", "bookworm"), ("deb-src", "bookworm"), ("deb-src", "trixie"))]
        (apt / "sources.list").write_text("\n".join(lines) + "\n")
        debians = ",".join(architecture.debian for architecture in ARCHITECTURES.values())
        options = [word for setting in (
            f"Dir::Etc::SourceList={apt}/sources.list", "Dir::Etc::SourceParts=-", f"Dir::State::Lists={apt}/lists",
            f"Dir::Cache={apt}/cache", "Dir::State::Status=/dev/null", "APT::Architecture=amd64",
            f"APT::Architectures={debians}", "APT::Sandbox::User=", "Acquire::Languages=none")
            for word in ("-o", setting)]
        self.run("apt-get", *options, *words, into=self.downloads)

    def download(self):
        headers = (*HEADERS, *self.architecture.headers)
        wanted = [part for part in (*SOURCES, *headers) if not all(map(self.is_here, part.files.items()))]
        if wanted:
            self.apt("update")
        for part in wanted:
            if part in headers:
                of = "" if part.file.endswith("_all.deb") else f":{part.file[:-len('.deb')].split('_')[-1]}"
                self.apt("download", f"{part.package}{of}={part.version}")
            else:
                self.apt("source", "--download-only", f"{part.package}={part.version}")
            for name, sha256 in part.files.items():
                if not self.is_here((name, sha256)):
                    raise Failure(f"{name} is not what it was: its SHA-256 is not {sha256}")
        for part in headers:
            unpacked = self.headers.parent / f"{part.file}.unpacked"
            if not unpacked.exists():
                self.run("dpkg-deb", "-x", self.downloads / part.file, self.headers.parent)
                unpacked.touch()
        papi = self.headers / "lib" / self.architecture.triplet / "pkgconfig/papi.pc"
        (self.prefix / "lib/pkgconfig/papi.pc").write_text(
            papi.read_text().replace("prefix=/usr", f"prefix={self.headers}"))

    def is_here(self, named):
        name, sha256 = named
        file = self.downloads / name
        return file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256

    def install_emulated(self):
        """What programs of another architecture run on here. Nothing of it gets into the release: any glibc serves."""
        root = self.directory / "emulated"
        name = f"libc6_*_{self.architecture.debian}.deb"
        if not list(self.downloads.glob(name)):
            self.apt("update")
            self.apt("download", f"libc6:{self.architecture.debian}")
        self.run("dpkg-deb", "-x", max(self.downloads.glob(name)), root)
        self.emulator = [emulator_of(self.architecture), "-L", str(root)]

    def unpacked(self, part):
        place = self.directory / "sources" / part.name
        shutil.rmtree(place, ignore_errors=True)
        with tarfile.open(self.downloads / part.file) as archive:
            archive.extractall(place)
        source, = place.iterdir()
        if part.corrections:
            with tarfile.open(self.downloads / part.packaging) as archive:
                archive.extractall(source)
            patches = source / "debian/patches"
            for name in re.findall(r"^[^#\s]\S*", (patches / "series").read_text(), re.M):
                self.run("patch", "--batch", "--forward", "--fuzz=0", "-p1", "-i", patches / name, into=source)
        return source

    def cmake_options(self):
        """For any build by CMake."""
        options = [f"-DCMAKE_C_COMPILER={self.cc}", f"-DCMAKE_CXX_COMPILER={self.cxx}", f"-DCMAKE_AR={self.ar}",
                   f"-DCMAKE_RANLIB={self.ranlib}", "-DCMAKE_BUILD_TYPE=Release",
                   "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG",
                   "-DCMAKE_INSTALL_LIBDIR=lib"]
        if self.emulator:
            options += ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={self.architecture.name}",
                        f"-DCMAKE_CROSSCOMPILING_EMULATOR={';'.join(self.emulator)}"]
        return options

    def cmake(self, source, *options):
        build = source / "build"
        build.mkdir()
        self.run("cmake", source, "-G", "Ninja", *self.cmake_options(), "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
                 "-DBUILD_SHARED_LIBS=OFF", f"-DCMAKE_INSTALL_PREFIX={self.prefix}",
                 f"-DCMAKE_PREFIX_PATH={self.prefix}", *options, into=build)  # HDF5 looks for files where it is called
        self.run("ninja", f"-j{self.jobs}", "install", into=build)

    def configure_options(self):
        """For any build by a script of Autoconf."""
        return (f"--host={self.architecture.triplet}", f"--prefix={self.prefix}", f"CC={self.cc}", f"CXX={self.cxx}",
                f"AR={self.ar}", f"RANLIB={self.ranlib}", "CFLAGS=-O2 -fPIC -w")


def emulator_of(architecture):
    """The path of qemu for programs of it, or None."""
    names = (f"qemu-{architecture.name}-static", f"qemu-{architecture.name}")
    return next((path for path in map(shutil.which, names) if path), None)


def build_zlib(shop, source):
    shop.run("./configure", "--static", f"--prefix={shop.prefix}", into=source, CC=str(shop.cc), AR=str(shop.ar),
             RANLIB=str(shop.ranlib), CFLAGS="-O2 -fPIC")
    shop.run("make", f"-j{shop.jobs}", "install", into=source)


def build_hdf5(shop, source):
    # One of its functions is declared without its type, which clang takes for an error.
    shop.cmake(source, "-DCMAKE_C_FLAGS=-w -Wno-implicit-int", "-DBUILD_TESTING=OFF", "-DHDF5_BUILD_TOOLS=OFF",
               "-DHDF5_BUILD_EXAMPLES=OFF", "-DHDF5_BUILD_CPP_LIB=OFF", "-DHDF5_BUILD_FORTRAN=OFF",
               "-DHDF5_BUILD_HL_LIB=ON", "-DHDF5_ENABLE_Z_LIB_SUPPORT=ON", "-DHDF5_ENABLE_SZIP_SUPPORT=OFF",
               "-DHDF5_ENABLE_EMBEDDED_LIBINFO=OFF")
    for name in ("hdf5.pc", "hdf5_hl.pc"):
        described = shop.prefix / "lib/pkgconfig" / name
        described.write_text(described.read_text().replace(f"-l{shop.prefix}/lib/libz.a", "-lz"))


def build_fmt(shop, source):
    # Linking a program takes minutes at first, since the compiler then compiles its libraries.
    shop.cmake(source, "-DFMT_TEST=OFF", "-DFMT_DOC=OFF", "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY")


def build_re2(shop, source):
    # Debian's archive lacks the tables that the package makes from the package unicode-data.
    script = source / "re2/unicode.py"
    script.write_text(script.read_text().replace("from six.moves import urllib", "import urllib.request").replace(
        "https://www.unicode.org/Public/14.0.0/ucd", str(shop.headers / "share/unicode")))
    shop.run("make", f"-j{shop.jobs}", "REBUILD_TABLES=1", f"CXX={shop.cxx}", f"AR={shop.ar}",
             "CXXFLAGS=-O2 -fPIC -pthread", f"prefix={shop.prefix}", "static-install", into=source)


def build_sqlite(shop, source):
    shop.run("./configure", *shop.configure_options(), "--disable-tcl", "--disable-readline", "--disable-shared",
             "--disable-load-extension", f"BUILD_CC={shop.cc_of_this_machine}", into=source)
    shop.run("make", "CROSS_BUILDING=yes", "lib_install", "sqlite3.pc", into=source)
    shutil.copy(source / "sqlite3.h", shop.prefix / "include")
    described = (source / "sqlite3.pc").read_text()
    (shop.prefix / "lib/pkgconfig/sqlite3.pc").write_text(described.replace(" -lz", ""))  # only its shell needs it


def build_elfutils(shop, source):
    # Without its programs, and without what unpacks debug information that is not packed by zlib.
    shop.run("./configure", *shop.configure_options(), "--disable-debuginfod", "--disable-libdebuginfod",
             "--disable-nls", "--without-bzlib", "--without-lzma", "--without-zstd", "--disable-symbol-versioning",
             f"CPPFLAGS=-I{shop.prefix}/include", f"LDFLAGS=-L{shop.prefix}/lib", into=source)
    for directory, library in (("lib", "libeu.a"), ("libelf", "libelf.a"), ("libcpu", "libcpu.a"),
                               ("backends", "libebl_backends.a"), ("libebl", "libebl.a"), ("libdwelf", "libdwelf.a"),
                               ("libdwfl", "libdwfl.a"), ("libdw", "libdw.a")):
        shop.run("make", f"-j{shop.jobs}", "-C", directory, library, into=source)
    for directory in ("libelf", "libdw"):
        shop.run("make", "-C", directory, "install-includeHEADERS", "install-pkgincludeHEADERS", into=source)
        shutil.copy(source / directory / f"{directory}.a", shop.prefix / "lib")
        shutil.copy(source / "config" / f"{directory}.pc", shop.prefix / "lib/pkgconfig")
    shop.run("make", "-C", "libdwfl", "install-pkgincludeHEADERS", into=source)
    # What both have in common is an archive of its own, which the shared libraries would contain.
    shutil.copy(source / "lib/libeu.a", shop.prefix / "lib")
    described = shop.prefix / "lib/pkgconfig/libelf.pc"
    described.write_text(described.read_text().replace("-lelf", "-lelf -leu"))
