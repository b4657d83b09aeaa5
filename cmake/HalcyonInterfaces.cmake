# The MPI interfaces that the preloaded libraries are made for, and which functions each library wraps.
#
# An interface is what lies between a program and its MPI library: the values of handles, and the layout of a status.
# Each interface has objects of its own: OPENMPI; MPICH, where its mpi.h is found; and ABI, the standard ABI, whose mpi.h
# is our own. An interface has several libraries where newer versions of an MPI library have more functions.
include_guard()

set(HALCYON_INTERFACES "")
set(HALCYON_LIBRARIES "")  # of all interfaces, by the MPI library that each is for

# INCLUDES: where its mpi.h is.
function(halcyon_interface interface)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "" "INCLUDES")
  set(HALCYON_INTERFACES ${HALCYON_INTERFACES} ${interface} PARENT_SCOPE)
  set(HALCYON_INCLUDES_OF_${interface} ${given_INCLUDES} PARENT_SCOPE)
endfunction()

# A recorder and an injector for an MPI library of an interface. SUFFIX ends the names of both. SETS: which functions of
# the tables they wrap (generate.py). Each set is compiled by itself, once for all libraries that have it.
function(halcyon_library_for mpi interface)
  cmake_parse_arguments(PARSE_ARGV 2 given "" "SUFFIX" "SETS")
  set(HALCYON_LIBRARIES ${HALCYON_LIBRARIES} ${mpi} PARENT_SCOPE)
  set(HALCYON_INTERFACE_OF_${mpi} ${interface} PARENT_SCOPE)
  set(HALCYON_SUFFIX_OF_${mpi} "${given_SUFFIX}" PARENT_SCOPE)
  set(HALCYON_SETS_OF_${mpi} ${given_SETS} PARENT_SCOPE)
endfunction()

get_target_property(includes MPI::MPI_C INTERFACE_INCLUDE_DIRECTORIES)
halcyon_interface(OPENMPI INCLUDES ${includes})
halcyon_library_for(openmpi OPENMPI SETS 3,device,posix mpix)
halcyon_library_for(openmpi5 OPENMPI SUFFIX -openmpi5 SETS 3,device,posix 4)

find_path(HALCYON_MPICH_INCLUDE_DIR mpi.h NO_DEFAULT_PATH
  PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich /usr/include/mpich
  DOC "Where MPICH's mpi.h is; without it there are no libraries for MPICH")
if(HALCYON_MPICH_INCLUDE_DIR)
  halcyon_interface(MPICH INCLUDES ${HALCYON_MPICH_INCLUDE_DIR})
  halcyon_library_for(mpich MPICH SUFFIX -mpich SETS 3,4,large,device,posix)
  halcyon_library_for(mpich5 MPICH SUFFIX -mpich5 SETS 3,4,large,device,posix 4.1,large)
else()
  message(STATUS "MPICH was not found (HALCYON_MPICH_INCLUDE_DIR): no libraries for it, and no tests with it")
endif()

set(HALCYON_ABI_PROTOTYPES ${PROJECT_BINARY_DIR}/standard_abi/mpi_prototypes.h)
halcyon_interface(ABI INCLUDES
  ${PROJECT_SOURCE_DIR}/libprofile/interpose/standard_abi ${PROJECT_BINARY_DIR}/standard_abi)
halcyon_library_for(abi ABI SUFFIX -abi SETS 3,4,4.1,large,device,posix)
