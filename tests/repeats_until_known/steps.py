"""Steps of a given time, with a barrier after each: steps.py STEPS MILLISECONDS"""
import sys
import time

from mpi4py import MPI

for _ in range(int(sys.argv[1])):
    time.sleep(1e-3 * float(sys.argv[2]))
    MPI.COMM_WORLD.Barrier()
