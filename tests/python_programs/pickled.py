"""pickled.py WHAT: ten rounds of one of mpi4py's methods that pickle what they are given."""
import sys

from mpi4py import MPI

ROUNDS = 10
world = MPI.COMM_WORLD
last = world.size - 1
apart = world.Dup()
half = world.Split(world.rank % 2)


def message(comm):
    """Of the first rank to the last, and of nobody else."""
    if world.rank == 0:
        comm.send({}, last)
    if world.rank == last:
        comm.recv(source=0)


METHODS = {
    "allreduce": lambda: world.allreduce([world.rank]),
    "allreduce-of-a-duplicate": lambda: apart.allreduce(1, MPI.MAX),
    "reduce-bcast": lambda: world.bcast(world.reduce(1)),
    "reduce-message-bcast": lambda: (world.reduce(1), message(apart), world.bcast(1)),
    "reduce-elsewhere-bcast": lambda: (world.reduce(1, root=last), world.bcast(1)),
    "gather-bcast": lambda: world.bcast(world.gather(1, root=last), root=last),
    "gather-scatter": lambda: world.scatter(world.gather(1)),
    "allgather": lambda: world.allgather(1),
    "barrier": lambda: world.barrier(),
    "marks": lambda: (message(world), MPI.Pcontrol(1)),
    # none of these waits for all
    "bcast": lambda: world.bcast(1),
    "reduce": lambda: world.reduce(1),
    "reduce-bcast-from-another": lambda: world.bcast(world.reduce(1), root=last),
    "messages-and-bcast": lambda: (message(apart), message(apart), apart.bcast(1)),
    "scan": lambda: (world.scan(1), world.bcast(1)),
    "allreduce-of-half": lambda: half.allreduce(1),
}

for _ in range(ROUNDS):
    METHODS[sys.argv[1]]()
