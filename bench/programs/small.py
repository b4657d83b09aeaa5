"""Small programs in mpi4py, whose communication is that of many larger ones: small.py NAME [SIZE STEPS]"""
import os
import sys

import numpy
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.Get_rank(), WORLD.Get_size()
DRAW = numpy.random.default_rng(7 + RANK)


def exchange_edges(field):
    """The first and last rows of a strip are those of the strips beside it."""
    before = RANK - 1 if RANK > 0 else MPI.PROC_NULL
    after = RANK + 1 if RANK < RANKS - 1 else MPI.PROC_NULL
    WORLD.Sendrecv(field[1], before, recvbuf=field[-1], source=after)
    WORLD.Sendrecv(field[-2], after, recvbuf=field[0], source=before)


def relaxed(field):
    return 0.25 * (field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:])


def strip(size):
    field = numpy.zeros((size // RANKS + 2, size))
    if RANK == 0:
        field[0] = 1.0
    return field


def summed(value):
    total = numpy.zeros(1)
    WORLD.Allreduce(numpy.array([value]), total)
    return total[0]


def cg(size, steps):
    """Conjugate gradients on a plate."""
    direction = numpy.zeros((size // RANKS + 2, size + 2))
    rest = numpy.ones((size // RANKS, size))
    solution = numpy.zeros_like(rest)
    direction[1:-1, 1:-1] = rest
    square = summed((rest * rest).sum())
    for _ in range(steps):
        exchange_edges(direction)
        inner = direction[1:-1, 1:-1]
        image = 4.0 * (inner - relaxed(direction))
        length = square / summed((inner * image).sum())
        solution += length * inner
        rest -= length * image
        before, square = square, summed((rest * rest).sum())
        direction[1:-1, 1:-1] = rest + square / before * inner


def jacobi(size, steps):
    """Many sweeps between two questions whether it has converged."""
    field = strip(size)
    for _ in range(steps):
        for _ in range(4):
            exchange_edges(field)
            following = relaxed(field)
            change = numpy.abs(following - field[1:-1, 1:-1]).max()
            field[1:-1, 1:-1] = following
        summed(change)


def kmeans(size, steps):
    points = DRAW.random((size, 3))
    centres = numpy.random.default_rng(1).random((16, 3))
    for _ in range(steps):
        nearest = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        members = [points[nearest == one] for one in range(len(centres))]
        sums = numpy.array([[*some.sum(axis=0), len(some)] for some in members])
        WORLD.Allreduce(MPI.IN_PLACE, sums)
        centres = sums[:, :3] / numpy.maximum(sums[:, 3:], 1)


def particles(size, steps):
    """Particles that attract each other; they wander between the ranks."""
    place, speed = DRAW.random((size, 2)), numpy.zeros((size, 2))
    for step in range(steps):
        everywhere = numpy.concatenate(WORLD.allgather(place))
        apart = everywhere - place[:, None]
        speed += 1e-6 * (apart / ((apart ** 2).sum(axis=2) + 1e-3)[:, :, None]).sum(axis=1)
        place = (place + speed) % 1.0
        leaves = (place[:, 0] * RANKS).astype(int) != RANK
        arrived = WORLD.alltoall([numpy.hstack([place, speed])[leaves & ((place[:, 0] * RANKS).astype(int) == other)]
                                  for other in range(RANKS)])
        place, speed = place[~leaves], speed[~leaves]
        for some in arrived:
            place, speed = numpy.concatenate([place, some[:, :2]]), numpy.concatenate([speed, some[:, 2:]])
        if step % 20 == 0:
            summed((speed ** 2).sum())


def heat_p2p(size, steps):
    """No rank ever waits for all."""
    field = strip(size)
    for _ in range(steps):
        exchange_edges(field)
        field[1:-1, 1:-1] = relaxed(field)


def pipeline(size, steps):
    """The first rank makes what the next one works on."""
    block = numpy.zeros(size)
    for _ in range(steps):
        if RANK > 0:
            WORLD.Recv(block, RANK - 1)
        else:
            block = DRAW.random(size)
        block = numpy.sort(block) if RANK == 0 else numpy.sqrt(block + numpy.sin(block))
        if RANK < RANKS - 1:
            WORLD.Send(block, RANK + 1)


def task(size):
    return numpy.sort(DRAW.random(size))[0]


def master_worker(size, steps):
    """Who is ready asks the master for the next task."""
    if RANK > 0:
        while (part := WORLD.sendrecv(None, 0)) is not None:
            task(part)
        return
    for step in range(steps + RANKS - 1):
        status = MPI.Status()
        WORLD.recv(status=status)
        WORLD.send(size + step % 7 * size // 20 if step < steps else None, status.Get_source())


def shared_counter(size, steps):
    """Who is ready takes the next task."""
    window = MPI.Win.Allocate(8, 8, comm=WORLD)
    numpy.frombuffer(window, dtype="i8")[:] = 0
    WORLD.Barrier()
    one, taken = numpy.ones(1, "i8"), numpy.zeros(1, "i8")
    while taken[0] < steps:
        window.Lock(0)
        window.Fetch_and_op(one, taken, 0)
        window.Unlock(0)
        task(size)
    window.Free()


def embarrassing(size, steps):
    best = min(task(size) for _ in range(steps))
    WORLD.reduce(best, MPI.MIN)


def embarrassing_files(size, steps):
    for step in range(steps):
        with open(f"{RANK}-{step}.out", "wb") as file:
            for _ in range(10):
                file.write(numpy.sort(DRAW.random(size)))
        os.remove(file.name)
    WORLD.Barrier()


globals()[sys.argv[1]](*map(int, sys.argv[2:]))
