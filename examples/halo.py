#!/usr/bin/python3
"""The same calls in the same order as halo.c, in Python with mpi4py's buffer calls."""
import sys

import mpi4py
import numpy

mpi4py.rc.initialize = False  # else the import starts MPI, and the run with it
mpi4py.rc.finalize = False
from mpi4py import MPI  # noqa: E402

CELLS = 1024
STRIP = 16


def relax(rod, following, limit):
    """One step of the heat equation; the largest change of a cell."""
    following[1:-1] = rod[1:-1] + limit * (rod[:-2] - 2.0 * rod[1:-1] + rod[2:])
    change = numpy.abs(following[1:-1] - rod[1:-1]).max()
    rod[1:-1] = following[1:-1]
    return change


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    file_name = sys.argv[2] if len(sys.argv) > 2 else "halo.dat"
    rod, following, strip = numpy.zeros(CELLS + 2), numpy.zeros(CELLS + 2), numpy.zeros(STRIP)
    change, change_left, largest, limit, heat, total = (numpy.zeros(1) for _ in range(6))

    MPI.Init()
    world = MPI.COMM_WORLD
    rank, ranks = world.Get_rank(), world.Get_size()
    before = rank - 1 if rank > 0 else MPI.PROC_NULL
    after = rank + 1 if rank < ranks - 1 else MPI.PROC_NULL
    left, right = (rank - 1) % ranks, (rank + 1) % ranks
    place = rank * CELLS * rod.itemsize

    if rank == 0:
        rod[1] = 1000.0
    limit[0] = 0.25
    neighbours = [world.Recv_init(change_left, left, 1), world.Send_init(change, right, 1)]

    for step in range(1, steps + 1):
        exchange = [world.Irecv(rod[:1], before, 2), world.Irecv(rod[-1:], after, 3),
                    world.Isend(rod[1:2], before, 3), world.Isend(rod[-2:-1], after, 2)]
        MPI.Request.Waitall(exchange)

        change[0] = relax(rod, following, limit[0])

        MPI.Prequest.Startall(neighbours)
        MPI.Request.Waitall(neighbours)
        world.Allreduce(change, largest, MPI.MAX)

        if step % 5 == 0:
            heat[0] = rod[1:-1].sum()
            world.Iallreduce(heat, total, MPI.SUM).Wait()
        if step % 10 == 0:
            world.Sendrecv(rod[1:1 + STRIP], right, 4, strip, left, 4)
            world.Bcast(limit, 0)
            world.Reduce(heat, total, MPI.SUM, 0)
            world.Barrier()
        if step % 20 == 0:  # a checkpoint, read back at once
            file = MPI.File.Open(world, file_name, MPI.MODE_CREATE | MPI.MODE_RDWR)
            file.Write_at_all(place, rod[1:-1])
            file.Read_at_all(place, following[1:-1])
            file.Close()

    for request in neighbours:
        request.Free()
    heat[0] = rod[1:-1].sum()
    world.Allreduce(heat, total, MPI.SUM)
    if rank == 0:
        print(f"heat {total[0]:.6f} after {steps} steps")
    MPI.Finalize()


main()
