"""What is linked into the portable release, or compiled into it from headers: where each comes from, pinned by version
and checksum, its license, and how it is built. All are packages of Debian, but for the compiler, which is a wheel.
"""
import dataclasses
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile

GLIBC = "2.17"  # the oldest that the release runs with
MIRROR = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
COMPILER = "ziglang==0.17.1 --hash=sha256:ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54"

# Its own libraries are always linked in, and hidden: it knows no options for that.
WRAPPER = """#!/bin/sh
for word do
  shift
  case $word in -static-lib*|-Wl,--exclude-libs,ALL) ;; *) set -- "$@" "$word" ;; esac
done
exec "{zig}" {language} -target x86_64-linux-gnu.{glibc} -mcpu=x86_64 -fno-sanitize=undefined \\
  -ffile-prefix-map="{directory}"=. "$@"
"""


class Failure(Exception):
    """Ends the release; the text says why."""


@dataclasses.dataclass(frozen=True)
class Part:
    """Something that is in the release. `package` is Debian's, with its version; `file` is what apt downloads."""
    name: str
    package: str
    version: str
    license: str  # as SPDX writes it
    file: str
    sha256: str


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
         "aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655"),
    # Of Debian 13: clang does not compile that of Debian 12.
    Part("elfutils", "elfutils", "0.192-4", "GPL-2.0-or-later OR LGPL-3.0-or-later", "elfutils_0.192.orig.tar.bz2",
         "616099beae24aba11f9b63d86ca6cc8d566d968b802391334c91df54eab416b4"),
)
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
    Part("papi", "libpapi-dev", "7.0.0-2", "BSD-3-Clause", "libpapi-dev_7.0.0-2_amd64.deb",
         "775bb08b236eb4c147a06893271c7cbcf8a0505bb5c4a42dbd54aa169a36bcf8"),
    Part("openmpi", "libopenmpi-dev", "4.1.4-3+b1", "BSD-3-Clause", "libopenmpi-dev_4.1.4-3+b1_amd64.deb",
         "089c17e74439e53ad6cab5f11d935bc9df93b26da0bd87b2b72eb789b467bea2"),
    Part("mpich", "libmpich-dev", "4.0.2-3+b1", "mpich2", "libmpich-dev_4.0.2-3+b1_amd64.deb",
         "d7fc62d292e0ff3a08a73b5293cb38e8ffdbcc31ff93c1ca12ab448b3d6140dc"),
    # Tables of RE2 are made of it.
    Part("unicode-data", "unicode-data", "15.0.0-1", "Unicode-DFS-2016", "unicode-data_15.0.0-1_all.deb", "5efef23bbb1c6a133ecbdd63a2cfa07159ccacf5466a49e2426101c5ecd691fc"),
)


class Workshop:
    """A directory in which all of this is downloaded, unpacked and built; what is there already is not made again."""

    def __init__(self, directory):
        self.directory = directory
        self.downloads = directory / "downloads"
        self.headers = directory / "headers/usr"  # of packages of Debian, which need not be installed
        self.prefix = directory / "prefix"  # of the static libraries
        self.cc, self.cxx = directory / "cc", directory / "c++"
        self.jobs = str(len(os.sched_getaffinity(0)))

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
        say("compiler")
        self.install_compiler()
        say("sources and headers")
        self.download()
        for part in SOURCES:
            built = self.directory / f"{part.name}.built"
            if not built.exists():
                say(f"{part.name} {part.version}")
                globals()[f"build_{part.name}"](self, self.unpacked(part))
                built.touch()

    def install_compiler(self):
        """Two compilers that link with the glibc of then, whatever this machine has. The C++ library is linked in."""
        environment = self.directory / "compiler"
        zig = environment / "ziglang/zig"
        if not zig.exists():
            requirement = self.directory / "compiler.txt"
            requirement.write_text(COMPILER + "\n")
            self.run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:",
                     "--require-hashes", "--target", environment, "-r", requirement)
        for compiler, language in ((self.cc, "cc"), (self.cxx, "c++")):
            compiler.write_text(WRAPPER.format(zig=zig, language=language, glibc=GLIBC, directory=self.directory))
            compiler.chmod(0o755)

    def download(self):
        wanted = [part for part in (*SOURCES, *HEADERS) if not self.is_here(part)]
        if wanted:
            apt = self.directory / "apt"
            (apt / "lists/partial").mkdir(parents=True, exist_ok=True)
            (apt / "cache/archives/partial").mkdir(parents=True, exist_ok=True)
            lines = [f"{kind} [signed-by={KEYRING}] {MIRROR} {release} main"
                     for kind, release in (("deb", "bookworm"), ("deb-src", "bookworm"), ("deb-src", "trixie"))]
            (apt / "sources.list").write_text("\n".join(lines) + "\n")
            options = [word for setting in (
                f"Dir::Etc::SourceList={apt}/sources.list", "Dir::Etc::SourceParts=-", f"Dir::State::Lists={apt}/lists",
                f"Dir::Cache={apt}/cache", "Dir::State::Status=/dev/null", "APT::Architecture=amd64",
                "APT::Sandbox::User=") for word in ("-o", setting)]
            self.run("apt-get", *options, "update")
            for part in wanted:
                what = ["download"] if part in HEADERS else ["source", "--download-only"]
                self.run("apt-get", *options, *what, f"{part.package}={part.version}", into=self.downloads)
        for part in (*SOURCES, *HEADERS):
            if not self.is_here(part):
                raise Failure(f"{part.file} is not what it was: its SHA-256 is not {part.sha256}")
        for part in HEADERS:
            self.run("dpkg-deb", "-x", self.downloads / part.file, self.headers.parent)
        papi = self.headers / "lib/x86_64-linux-gnu/pkgconfig/papi.pc"
        (self.prefix / "lib/pkgconfig/papi.pc").write_text(
            papi.read_text().replace("prefix=/usr", f"prefix={self.headers}"))

    def is_here(self, part):
        file = self.downloads / part.file
        return file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == part.sha256

    def unpacked(self, part):
        place = self.directory / "sources" / part.name
        shutil.rmtree(place, ignore_errors=True)
        with tarfile.open(self.downloads / part.file) as archive:
            archive.extractall(place)
        source, = place.iterdir()
        return source

    def cmake(self, source, *options):
        build = source / "build"
        build.mkdir()
        self.run("cmake", source, "-G", "Ninja", f"-DCMAKE_C_COMPILER={self.cc}", f"-DCMAKE_CXX_COMPILER={self.cxx}",
                 "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O2 -DNDEBUG",
                 "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
                 "-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_INSTALL_LIBDIR=lib", f"-DCMAKE_INSTALL_PREFIX={self.prefix}",
                 f"-DCMAKE_PREFIX_PATH={self.prefix}", *options, into=build)  # HDF5 looks for files where it is called
        self.run("ninja", f"-j{self.jobs}", "install", into=build)


def build_zlib(shop, source):
    shop.run("./configure", "--static", f"--prefix={shop.prefix}", into=source, CC=str(shop.cc), CFLAGS="-O2 -fPIC")
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
    shop.run("make", f"-j{shop.jobs}", "REBUILD_TABLES=1", f"CXX={shop.cxx}", "CXXFLAGS=-O2 -fPIC -pthread",
             f"prefix={shop.prefix}", "static-install", into=source)


def build_sqlite(shop, source):
    shop.run("./configure", "--disable-tcl", "--disable-readline", "--disable-shared", "--disable-load-extension",
             f"--prefix={shop.prefix}", f"CC={shop.cc}", f"BUILD_CC={shop.cc}", "CFLAGS=-O2 -fPIC -w", into=source)
    shop.run("make", "lib_install", "sqlite3.pc", into=source)
    shutil.copy(source / "sqlite3.h", shop.prefix / "include")
    described = (source / "sqlite3.pc").read_text()
    (shop.prefix / "lib/pkgconfig/sqlite3.pc").write_text(described.replace(" -lz", ""))  # only its shell needs it


def build_elfutils(shop, source):
    # Without its programs, and without what unpacks debug information that is not packed by zlib.
    shop.run("./configure", f"--prefix={shop.prefix}", "--disable-debuginfod", "--disable-libdebuginfod", "--disable-nls",
             "--without-bzlib", "--without-lzma", "--without-zstd", "--disable-symbol-versioning", f"CC={shop.cc}",
             f"CXX={shop.cxx}", "CFLAGS=-O2 -fPIC -w", f"CPPFLAGS=-I{shop.prefix}/include",
             f"LDFLAGS=-L{shop.prefix}/lib", into=source)
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
