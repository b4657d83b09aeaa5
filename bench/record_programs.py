#!/usr/bin/python3
"""Records forty real programs, ten of each class of docs/programs.md, for calibration.py: three quiet runs of each, and
two with delays that intM injects, one after the other.

    record_programs.py DIRECTORY [--halcyon COMMAND] [PROGRAM...]
    record_programs.py --packages

The programs are packages of Debian 12, which `--packages` names, and those that bench/programs/ has in source. It also
has the inputs that the packages lack. Nothing is installed.

A run is DIRECTORY/CLASS/PROGRAM/q1.h5 to q3.h5, d1.h5 or d2.h5. What is there is not recorded again. A program that
fails is named at the end, and the others go on; its output is in DIRECTORY/failed/PROGRAM.
"""
import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import h5py

from programs import BUILD, PYTHON, RANKS, SOURCE, environment

INPUTS = SOURCE / "bench" / "programs"
QUIET = 3
DELAYED = {"d1": (15, 40), "d2": (33, 120)}  # of the run, in percent, and in how many delays
PATIENCE = 120  # seconds: a run takes 0.3 to 6

PACKAGES = """cp2k cp2k-data elk-lapw esys-particle examl freefem++ gerris gpaw gpaw-data gromacs hpcc lammps
    lammps-examples libhypre-dev libpnetcdf-dev libsuperlu-dist-dev meep-openmpi mpb-mpi mpb-scm nwchem-openmpi
    petsc-dev petsc3.18-doc phyml pkg-config python3-h5py python3-mpi4py python3-numpy quantum-espresso
    quantum-espresso-data scalapack-mpi-test slepc-dev""".split()

REPEAT = "repeat, but never exactly"
FEW = "few or no global synchronisations"
SHORT = "about a second or less"
VARY = "few segments, work that varies, threads"


@dataclass
class Program:
    kind: str
    name: str
    command: str  # of a rank
    prepare: str = ""  # commands of a shell: make its inputs in the directory where it starts
    ranks: int = RANKS
    environment: dict = field(default_factory=dict)


def small(kind, name, arguments):
    return Program(kind, name, f"{PYTHON} {INPUTS / 'small.py'} {arguments}")


# PETSc's examples come as HTML.
PETSC = """sed '1d; s/<[^>]*>//g; s/^ *[0-9]*: //; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\\&/g' \\
        $DOC/petsc3.18-doc/docs/src/{0}.c.html > {1}.c
    mpicc -w -O2 {1}.c -o {1} $(pkg-config --cflags --libs petsc) -lm"""
EX19 = PETSC.format("snes/tutorials/ex19", "ex19")
EX45 = PETSC.format("ksp/ksp/tutorials/ex45", "ex45")
NWCHEM = "sed 's/METHOD/{0}/; s/BASIS/{1}/' $INPUTS/water.nw > water.nw"
GROMACS = """cp $INPUTS/water.top water.top
    gmx -quiet solvate -cs spc216 -box 2.5 2.5 2.5 -o water.gro -p water.top
    gmx -quiet grompp -f $INPUTS/water.mdp -c water.gro -p water.top -o water.tpr"""
MDRUN = "gmx_mpi -quiet mdrun -s water.tpr -pin off -ntomp {0} -nsteps {1}"
MPB = f"mpb-mpi res={{0}} between={{1}} {INPUTS / 'bands.ctl'}"
MEEP = f"meep across={{0}} until={{1}} {INPUTS / 'bend.ctl'}"

PROGRAMS = [
    Program(REPEAT, "cp2k-md", "cp2k.psmp h2o.inp",
            """sed s/GEO_OPT/MD/ $DOC/cp2k/examples/h2o.inp > h2o.inp
            printf '&MOTION\n &MD\n STEPS 100\n &END MD\n&END MOTION\n' >> h2o.inp"""),
    Program(REPEAT, "gpaw-scf", f"{PYTHON} {INPUTS / 'silicon_gpaw.py'}"),
    Program(REPEAT, "hpcc", "hpcc",
            "sed 's/^2 \\( *Ps\\)/1 \\1/; s/^1000 /1500 /' $DOC/hpcc/examples/_hpccinf.txt > hpccinf.txt"),
    Program(REPEAT, "hypre-ij-amg", "./amg 60 4",
            "mpicc -O2 -I/usr/include/hypre $INPUTS/hypre_amg.c -o amg -lHYPRE -lm"),
    Program(REPEAT, "mpb-bands", MPB.format(24, 1)),
    Program(REPEAT, "nwchem-dft", "nwchem.openmpi water.nw", NWCHEM.format("dft", "6-31g\\*")),
    Program(REPEAT, "nwchem-scf", "nwchem.openmpi water.nw", NWCHEM.format("scf", "cc-pvtz")),
    Program(REPEAT, "petsc-ex19-mg", "./ex19 -da_refine 6 -pc_type mg -lidvelocity 10 -grashof 100", EX19),
    Program(REPEAT, "petsc-ex45-cg", "./ex45 -da_refine 4 -ksp_type cg -pc_type mg", EX45),
    Program(REPEAT, "qe-scf", f"pw.x -in {INPUTS / 'si.pw.in'}"),

    small(FEW, "embarrassing", "embarrassing 200000 80"),
    small(FEW, "embarrassing-files", "embarrassing_files 20000 60"),
    Program(FEW, "gromacs-1x2", MDRUN.format(2, 500), GROMACS, ranks=1, environment={"OMP_NUM_THREADS": "2"}),
    Program(FEW, "gromacs-2x1", MDRUN.format(1, 600), GROMACS),
    small(FEW, "heat-p2p", "heat_p2p 900 1400"),
    small(FEW, "master-worker", "master_worker 20000 2400"),
    Program(FEW, "meep", MEEP.format(24, 200)),
    Program(FEW, "phyml-mpi", "phyml-mpi -i proteic -d aa -o l -b 2 --no_memory_check --r_seed 1",
            "cp $DOC/phyml/examples/proteic ."),
    small(FEW, "pipeline", "pipeline 18000 900"),
    small(FEW, "shared-counter", "shared_counter 20000 2000"),

    Program(SHORT, "elk", "elk-lapw",
            """sed "s|'.*species/'|'/usr/share/elk-lapw/species/'|" $DOC/elk-lapw/examples/basic/Al/elk.in > elk.in"""),
    Program(SHORT, "esys-particle", f"esysparticle {INPUTS / 'grains.py'}"),
    Program(SHORT, "examl", "/usr/lib/examl/bin/examl-sse3 -t 49.tree -m GAMMA -f e -s 49.binary -n T1",
            """zcat $DOC/examl/testData/49.gz > 49; cp $DOC/examl/testData/49.tree .
            parse-examl -s 49 -m DNA -n 49"""),
    Program(SHORT, "gerris", f"gerris2D {INPUTS / 'cavity.gfs'}"),
    small(SHORT, "jacobi-short", "jacobi 300 300"),
    Program(SHORT, "meep-short", MEEP.format(20, 80)),
    Program(SHORT, "mpb-short", MPB.format(12, 1)),
    Program(SHORT, "petsc-ex45-short", "./ex45 -da_refine 3 -da_grid_x 11 -da_grid_y 11 -da_grid_z 11 -ksp_type cg "
            "-pc_type mg", EX45),
    Program(SHORT, "scalapack-qr", "/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/xdqr",
            """sed '/process grids/s/^4/2/; /values of P/s/^.*/1 2/; /values of Q/s/^.*/2 1/
                /values of M$/s/^.*/96 128 192 256/; /values of N$/s/^.*/96 112 160 256/' \\
                /usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/QR.dat > QR.dat"""),
    Program(SHORT, "slepc-ex2-short", "./laplace -n 110 -eps_nev 8",
            "mpicc -O2 $INPUTS/slepc_laplace.c -o laplace $(pkg-config --cflags --libs slepc petsc)"),

    small(VARY, "cg-numpy", "cg 400 900"),
    Program(VARY, "freefem-schwarz", f"FreeFem++-mpi -nw -v 0 {INPUTS / 'schwarz.edp'}"),
    Program(VARY, "gromacs-2x2", MDRUN.format(2, 600), GROMACS, environment={"OMP_NUM_THREADS": "2"}),
    small(VARY, "jacobi-numpy", "jacobi 400 200"),
    small(VARY, "jacobi-numpy-41", "jacobi 1100 41"),
    small(VARY, "kmeans-numpy", "kmeans 9000 245"),
    Program(VARY, "lammps-min", "lmp -in in.min -log none -screen none",
            "sed 's/0 20 0 20/0 40 0 40/' /usr/share/lammps/examples/min/in.min > in.min"),
    small(VARY, "particles-numpy", "particles 130 300"),
    Program(VARY, "pnetcdf", "./blocks 256 30", "mpicc -O2 $INPUTS/pnetcdf_blocks.c -o blocks -lpnetcdf"),
    Program(VARY, "superlu-pddrive3", "/usr/lib/x86_64-linux-gnu/superlu-dist/tests/EXAMPLE/pddrive3 -r 1 -c 2 "
            "grid.mtx", f"{PYTHON} $INPUTS/laplace_mtx.py 200 > grid.mtx"),
]


class Failed(Exception):
    pass


class Recorder:
    """The runs of one program. Each starts in a copy of the same inputs."""

    def __init__(self, program, halcyon, runs, scratch):
        self.program, self.halcyon, self.runs, self.scratch = program, halcyon, runs, scratch
        self.inputs = scratch / "inputs"
        self.environment = {**environment(), "INPUTS": str(INPUTS), "DOC": "/usr/share/doc",
                            "XDG_STATE_HOME": str(scratch / "state"), "GMX_MAXBACKUP": "-1",
                            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **program.environment}

    def call(self, command, directory):
        log = self.scratch / "log"
        with log.open("w") as output:
            process = subprocess.Popen(command, cwd=directory, env=self.environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
            try:
                status = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                status = f"none within {PATIENCE} s"
            finally:
                if process.returncode is None:  # mpirun ends its ranks
                    os.killpg(process.pid, signal.SIGTERM)
                    process.wait()
        if status:
            raise Failed(f"{' '.join(map(str, command))}: exit status {status}")

    def prepare(self):
        self.inputs.mkdir()
        if self.program.prepare:
            self.call(["bash", "-e", "-o", "pipefail", "-c", self.program.prepare], self.inputs)

    def record(self, name, spec=None):
        profile, place = self.scratch / f"{name}.h5", self.scratch / "run"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.inputs, place)
        self.call([self.halcyon, "run", "-o", profile, "--no-baseline", "--no-probes",
                   *(["--inject", spec] if spec else []),
                   "--", "mpirun", "-np", str(self.program.ranks), *self.program.command.split()], place)
        return profile

    def keep(self, name, spec=None):
        """Moved when it is whole: what is there need not be recorded again."""
        shutil.move(self.record(name, spec), self.runs / f"{name}.h5")

    def calls(self):
        """Over all ranks: as many as can be delayed. Each is, by 1 µs."""
        with h5py.File(self.record("calls", "class=all,prob=1,mean=1us,sd=0us")) as profile:
            return round(float(profile["injected_requested"][:].sum()) * 1e6)

    def spec(self, percent, hits, calls):
        quiet = []
        for file in self.runs.glob("q*.h5"):
            with h5py.File(file) as profile:
                quiet.append(float(profile.attrs["run_time_seconds"]))
        lost = min(quiet) * percent / (100 - percent)
        hits = min(hits, calls)
        # Delays of all ranks add up while they hit different segments, which fewer calls than hits do not allow.
        mean = lost / hits * (self.program.ranks if hits == calls else 1)
        return f"class=all,prob={hits / calls:.6g},mean={1e6 * mean:.1f}us,sd={2e5 * mean:.1f}us"

    def series(self):
        missing = [name for name in [f"q{i + 1}" for i in range(QUIET)] + list(DELAYED)
                   if not (self.runs / f"{name}.h5").exists()]
        if not missing:
            return
        self.prepare()
        self.runs.mkdir(parents=True, exist_ok=True)
        for name in missing:
            if name not in DELAYED:
                self.keep(name)
        calls = self.calls() if any(name in DELAYED for name in missing) else 0
        for name in missing:
            if name in DELAYED:
                if not calls:
                    raise Failed("it makes no call that could be delayed")
                self.keep(name, self.spec(*DELAYED[name], calls))


def record(program, options):
    runs = options.directory.resolve() / program.kind / program.name
    with tempfile.TemporaryDirectory(prefix=f"{program.name}-") as scratch:
        recorder = Recorder(program, options.halcyon, runs, Path(scratch))
        try:
            recorder.series()
        except Failed as error:
            failed = options.directory / "failed"
            failed.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(scratch) / "log", failed / program.name)
            return str(error)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path, nargs="?", help="gets the profiles")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="only these. Default: all")
    parser.add_argument("--halcyon", default=BUILD / "bin" / "halcyon", metavar="COMMAND", help="what records",
                        type=lambda command: Path(shutil.which(command) or command).resolve())
    parser.add_argument("--packages", action="store_true", help="print the Debian packages that this needs")
    options = parser.parse_intermixed_args()
    if options.packages:
        print(*PACKAGES)
        return
    if options.directory is None:
        parser.error("no DIRECTORY for the profiles")
    unknown = set(options.programs) - {program.name for program in PROGRAMS}
    if unknown:
        parser.error(f"no such program: {', '.join(sorted(unknown))}; there are {', '.join(p.name for p in PROGRAMS)}")
    chosen = [program for program in PROGRAMS if not options.programs or program.name in options.programs]
    failures = []
    for number, program in enumerate(chosen, 1):
        began = time.monotonic()
        why = record(program, options)
        print(f"{number} of {len(chosen)}: {program.name}, {time.monotonic() - began:.0f} s"
              + (f", failed: {why}" if why else ""), flush=True)
        if why:
            failures.append(program.name)
    if failures:
        sys.exit(f"{len(failures)} of {len(chosen)} programs failed: {', '.join(failures)}; "
                 f"their output is in {options.directory / 'failed'}")


if __name__ == "__main__":
    main()
