"""Stands in for mpi4py, which Debian builds for Open MPI only: the part that the tests use, on MPICH.

As with mpi4py, MPI's library is in a scope of its own, and preloaded libraries get the calls first.
"""
import atexit
import ctypes

LIBRARY = ctypes.CDLL("libmpich.so.12", mode=ctypes.RTLD_LOCAL)
GLOBAL_SCOPE = ctypes.CDLL(None)
WORLD = 0x44000000  # of MPICH's mpi.h


def call(name, *arguments):
    getattr(GLOBAL_SCOPE if hasattr(GLOBAL_SCOPE, name) else LIBRARY, name)(*arguments)


class World:
    @property
    def rank(self):
        rank = ctypes.c_int()
        call("MPI_Comm_rank", WORLD, ctypes.byref(rank))
        return rank.value

    def Barrier(self):
        call("MPI_Barrier", WORLD)

    def Abort(self, status):
        call("MPI_Abort", WORLD, status)


class MPI:
    COMM_WORLD = World()

    @staticmethod
    def Finalize():
        atexit.unregister(MPI.Finalize)
        call("MPI_Finalize")


call("MPI_Init", None, None)
atexit.register(MPI.Finalize)
