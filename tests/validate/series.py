"""Counts its runs in the file `runs`, and meets 60 barriers. Its argument says how the runs differ:

  fails   the fourth run ends with status 7 before the barriers
  longer  the fourth run has 30 barriers more
  turns   runs take no time, one second and two seconds, by turns
"""
import sys
import time

from mpi4py import MPI

BARRIERS, MORE_BARRIERS = 60, 30
world = MPI.COMM_WORLD
with open("runs", "a+", encoding="ascii") as file:
    if world.rank == 0:
        file.write("x")
    file.flush()
    run = world.bcast(file.tell())
how = sys.argv[1]
is_other = run == 4

if is_other and how == "fails":
    MPI.Finalize()
    sys.exit(7)
for _ in range(BARRIERS + (MORE_BARRIERS if is_other and how == "longer" else 0)):
    if how == "turns":
        time.sleep((run % 3) / BARRIERS)
    world.Barrier()
