"""looks.py ctypes|cffi LIBRARY local|global HANDLE: opens the MPI library as Python programs without mpi4py do.

HANDLE: MPI_COMM_WORLD, as the symbol of a variable or as a number.
"""
import sys

ROUNDS = 50
module, library, scope, world = sys.argv[1:]
is_number = world.startswith("0x")

if module == "ctypes":
    import ctypes
    mpi = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL if scope == "global" else ctypes.RTLD_LOCAL)
    world = int(world, 16) if is_number else ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, world)))
    none = None
else:
    import cffi
    ffi = cffi.FFI()
    handle = "int" if is_number else "void *"
    ffi.cdef(f"int MPI_Init(int *, char ***); int MPI_Barrier({handle}); int MPI_Finalize(void);"
             + ("" if is_number else f"extern char {world};"))
    mpi = ffi.dlopen(library, ffi.RTLD_GLOBAL if scope == "global" else ffi.RTLD_LOCAL)
    world = int(world, 16) if is_number else ffi.addressof(mpi, world)
    none = ffi.NULL

mpi.MPI_Init(none, none)
for _ in range(ROUNDS):
    mpi.MPI_Barrier(world)
mpi.MPI_Finalize()
