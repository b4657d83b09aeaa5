#!/usr/bin/python3
"""The largest eigenvalue of a matrix by the power method, in Python with mpi4py. Each rank has some of the rows.

usage: mpirun -np N power.py [STEPS [objects]]

By default, arrays are exchanged as buffers (Allgather, Allreduce). With `objects`, mpi4py pickles them (allgather,
allreduce), as most Python programs do at first. The default of 600 steps takes some seconds on two ranks.
"""
import sys

import numpy
from mpi4py import MPI

SIDE = 1800


def main():
    world = MPI.COMM_WORLD
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    pickled = sys.argv[2:] == ["objects"]
    first = SIDE * world.rank // world.size
    last = SIDE * (world.rank + 1) // world.size
    counts = [SIDE * (rank + 1) // world.size - SIDE * rank // world.size for rank in range(world.size)]

    row, column = numpy.ogrid[first:last, 0:SIDE]
    matrix = 1.0 / (1.0 + abs(row - column))
    vector = numpy.ones(SIDE)
    square = numpy.zeros(1)
    for _ in range(steps):
        mine = numpy.einsum("ij,j->i", matrix, vector)  # on this thread alone, as a BLAS need not be
        if pickled:
            vector = numpy.concatenate(world.allgather(mine))
            square[0] = world.allreduce(float(mine @ mine))
        else:
            world.Allgatherv(mine, (vector, counts))
            world.Allreduce(numpy.array([mine @ mine]), square)
        vector /= numpy.sqrt(square[0])
    if world.rank == 0:
        print(f"largest eigenvalue {numpy.sqrt(square[0]):.9f} after {steps} steps")


main()
