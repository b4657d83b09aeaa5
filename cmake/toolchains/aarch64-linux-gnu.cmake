# Builds for aarch64 with Debian's cross compilers, against a tree of Debian's packages for arm64: HALCYON_ARM64_ROOT,
# or build/arm64-root (install_arm64_root in cmake/install-packages.sh makes it). What the build runs itself, such as
# the program that writes the man pages, and the unit tests run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_Fortran_COMPILER aarch64-linux-gnu-gfortran)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(HALCYON_ARM64_ROOT_USUAL ${CMAKE_CURRENT_LIST_DIR}/../../build/arm64-root ABSOLUTE)
set(HALCYON_ARM64_ROOT ${HALCYON_ARM64_ROOT_USUAL} CACHE PATH "A tree of Debian's packages for arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HALCYON_ARM64_ROOT)
set(CMAKE_SYSROOT ${HALCYON_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)

# Of Open MPI, pkg-config knows the libraries, but FindMPI looks for them itself. The host's mpicc names the host's.
set(MPI_SKIP_COMPILER_WRAPPER ON)
set(CMAKE_LIBRARY_PATH /usr/lib/aarch64-linux-gnu/openmpi/lib)

find_program(HALCYON_QEMU_USER NAMES qemu-aarch64-static qemu-aarch64)
if(HALCYON_QEMU_USER)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HALCYON_QEMU_USER} -L ${CMAKE_SYSROOT})
endif()
