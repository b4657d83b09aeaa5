"""What the behaviours share.

A behaviour is a directory of tests/ with a test.py that ends in `halcyon_test.main()`; `tests/run NAME` runs it. Needs
only Debian's Python modules.
"""
from .behaviour import Behaviour, main, skip
from .commands import TIME_LIMIT, WITHOUT_OPENCL, Finished, output_of
from .debian import Debian, NoDebian
from .hosts import ENTER, Hosts, NoHosts
from .machine import MOST_FOREIGN_CPU, foreign_cpu_seconds, processes_that_name
from .made_up_times import is_delayed, make_up_times, write_disturbed_profile
from .mpi_family import MPI, MPICH, OPEN_MPI, OTHER_MPI, needs_python, only_mpich, only_open_mpi
from .places import BUILD, EXAMPLES, HALCYON, INJECTOR, LIBRARY, PROGRAMS, PYTHON, SOURCE, WRITER, library_of
from .profile import TOTALS, Profile, editing, split_site
from .schemas import check_schema, checks_schemas, keys_of_schema
from .symbols import exported_by, needed_by, wrapped_functions
from .terminal import Terminal
