"""Boundaries on several lines, of functions that call each other; with `threads` beside a thread that computes."""
import sys
import threading

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
one, total = numpy.ones(1), numpy.zeros(1)
ended = threading.Event()


def largest(value):
    return world.allreduce(value, MPI.MAX)


def step():
    world.Allreduce(one, total)
    request = world.Iallreduce(one, total)
    largest(1)
    request.Wait()


def compute():
    while not ended.is_set():
        sum(range(1000))


if "threads" in sys.argv:
    threading.Thread(target=compute).start()
for _ in range(20):
    step()
    world.Barrier()
    try:
        raise ValueError
    except ValueError:
        world.barrier()
ended.set()
