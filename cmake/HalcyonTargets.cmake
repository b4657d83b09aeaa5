# What every target of the project has in common, and how preloaded libraries are made.
include_guard()

set(HALCYON_SANITIZE "" CACHE STRING "Sanitizers for everything but the preloaded libraries, such as address,undefined")
set(HALCYON_SANITIZE_PRELOADED "" CACHE STRING
  "Sanitizers for the preloaded libraries, whose runtime must then be preloaded with them, such as thread")

# Headers of the standard library, fmt, JSON and Eigen take half of the time of a compilation.
option(HALCYON_UNITY_BUILD "Compile several sources of a target as one; a full build then takes half of the time" ON)

add_library(halcyon_common INTERFACE)
target_compile_features(halcyon_common INTERFACE cxx_std_20)
target_include_directories(halcyon_common INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(halcyon_common INTERFACE HALCYON_VERSION="${PROJECT_VERSION}")
target_compile_options(halcyon_common INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers
  $<$<NOT:$<BOOL:${HALCYON_UNITY_BUILD}>>:-Wshadow>  # sources compiled as one see the names of each other
  $<$<BOOL:${HALCYON_WARNINGS_AS_ERRORS}>:-Werror>)

# A static library of the tools, with the sanitizers that were asked for.
function(halcyon_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC halcyon_common halcyon_sanitizers)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${HALCYON_UNITY_BUILD})
endfunction()

function(halcyon_sanitizers name sanitizers)
  add_library(${name} INTERFACE)
  if(sanitizers)
    target_compile_options(${name} INTERFACE -fsanitize=${sanitizers} -fno-omit-frame-pointer
      -fno-sanitize-recover=all)
    target_link_options(${name} INTERFACE -fsanitize=${sanitizers})
  endif()
endfunction()
halcyon_sanitizers(halcyon_sanitizers "${HALCYON_SANITIZE}")
halcyon_sanitizers(halcyon_preloaded_sanitizers "${HALCYON_SANITIZE_PRELOADED}")

# A program that reads or writes profiles runs where a module file may have put another HDF5 of the same name in front: it
# takes the one that it was built with. A RUNPATH would come after LD_LIBRARY_PATH, an RPATH comes before it.
get_filename_component(HALCYON_HDF5_DIR ${HALCYON_HDF5_HL} REALPATH)
get_filename_component(HALCYON_HDF5_DIR ${HALCYON_HDF5_DIR} DIRECTORY)
function(halcyon_keeps_its_hdf5 program)
  set_target_properties(${program} PROPERTIES BUILD_RPATH ${HALCYON_HDF5_DIR} INSTALL_RPATH ${HALCYON_HDF5_DIR})
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endfunction()

# The MPI families that preloaded libraries are made for, since their handles differ: MPI, which is Open MPI, and MPICH
# where its mpi.h is found. The libraries' names tell them apart by a suffix.
set(HALCYON_MPI_FAMILIES MPI)
set(HALCYON_MPI_SUFFIX "")
get_target_property(HALCYON_MPI_INCLUDES MPI::MPI_C INTERFACE_INCLUDE_DIRECTORIES)
find_path(HALCYON_MPICH_INCLUDE_DIR mpi.h NO_DEFAULT_PATH
  PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich /usr/include/mpich
  DOC "Where MPICH's mpi.h is; without it there are no libraries for MPICH")
if(HALCYON_MPICH_INCLUDE_DIR)
  list(APPEND HALCYON_MPI_FAMILIES MPICH)
  set(HALCYON_MPICH_SUFFIX "-mpich")
  set(HALCYON_MPICH_INCLUDES ${HALCYON_MPICH_INCLUDE_DIR})
else()
  message(STATUS "MPICH was not found (HALCYON_MPICH_INCLUDE_DIR): no libraries for it, and no tests with it")
endif()

# Each family's preprocessed mpi.h, from which the wrappers' prototypes are read.
foreach(family IN LISTS HALCYON_MPI_FAMILIES)
  set(declarations ${PROJECT_BINARY_DIR}/mpi_declarations${HALCYON_${family}_SUFFIX}.i)
  set(HALCYON_${family}_DECLARATIONS ${declarations})
  list(TRANSFORM HALCYON_${family}_INCLUDES PREPEND -I OUTPUT_VARIABLE include_flags)
  add_custom_command(OUTPUT ${declarations}
    COMMAND ${CMAKE_C_COMPILER} ${include_flags} -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX -E
            ${PROJECT_SOURCE_DIR}/libprofile/interpose/mpi_declarations.h -o ${declarations}
    DEPENDS ${PROJECT_SOURCE_DIR}/libprofile/interpose/mpi_declarations.h
    VERBATIM)
  add_custom_target(halcyon_mpi_declarations${HALCYON_${family}_SUFFIX} DEPENDS ${declarations})
endforeach()

# How what is preloaded is compiled. A square root that need not set errno is one instruction, and nothing of libm.
function(halcyon_compile_preloaded target includes)
  target_link_libraries(${target} PRIVATE halcyon_common halcyon_preloaded_sanitizers)
  target_include_directories(${target} SYSTEM PRIVATE ${includes})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON UNITY_BUILD ${HALCYON_UNITY_BUILD})
  target_compile_options(${target} PRIVATE -ftls-model=initial-exec -fno-semantic-interposition -fno-math-errno)
endfunction()

# A library to be preloaded, once for each MPI family and installed: wrappers for `tool` (recorder or injector) out of the
# tables, and nothing but libc needed at run time. Undefined symbols are an error, so that no MPI symbol can slip in: it
# would keep `ls` from starting. WITHOUT_MPI: sources that do not include mpi.h, compiled once for all families.
function(halcyon_preload_library base tool)
  cmake_parse_arguments(PARSE_ARGV 2 library "" "" "SOURCES;WITHOUT_MPI;INCLUDES")
  set(interpose ${PROJECT_SOURCE_DIR}/libprofile/interpose)
  add_library(${base}_without_mpi OBJECT ${interpose}/next.cpp ${interpose}/outermost_call.cpp
    ${interpose}/variadic.cpp ${library_WITHOUT_MPI})
  halcyon_compile_preloaded(${base}_without_mpi "${library_INCLUDES}")
  foreach(family IN LISTS HALCYON_MPI_FAMILIES)
    set(suffix ${HALCYON_${family}_SUFFIX})
    set(name ${base}${suffix})
    set(declarations ${HALCYON_${family}_DECLARATIONS})
    set(wrappers ${CMAKE_CURRENT_BINARY_DIR}/${name}_wrappers.cpp)
    add_custom_command(OUTPUT ${wrappers}
      COMMAND ${HALCYON_PYTHON} ${interpose}/generate.py ${tool} ${declarations} ${interpose}/mpi.table
              ${interpose}/posix.table ${wrappers}
      DEPENDS ${interpose}/generate.py ${interpose}/mpi.table ${interpose}/posix.table ${declarations}
              halcyon_mpi_declarations${suffix}
      VERBATIM)
    add_library(${name} SHARED ${wrappers} ${interpose}/mpi_runtime.cpp ${library_SOURCES}
      $<TARGET_OBJECTS:${base}_without_mpi>)
    halcyon_compile_preloaded(${name} "${HALCYON_${family}_INCLUDES};${library_INCLUDES}")
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${name})
    # An exception or a cancelled thread that comes through a wrapper is unwound by the program's libgcc_s, and a second
    # copy aborts when it is handed the first one's context: wrappers have nothing for it to call.
    set(wrapper_options -fno-exceptions)
    if(HALCYON_SANITIZE_PRELOADED MATCHES "address")
      # A frame that is left so keeps the sanitizer's marks on the stack, where the next one finds them.
      list(APPEND wrapper_options --param=asan-stack=0)
    endif()
    set_source_files_properties(${wrappers} PROPERTIES COMPILE_OPTIONS "${wrapper_options}")
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs
      -Wl,--version-script=${interpose}/preload.map -Wl,-z,now)
    set_target_properties(${name} PROPERTIES EXPORT_NAME ${tool}${suffix})
    install(TARGETS ${name} EXPORT HalcyonTargets LIBRARY DESTINATION ${HALCYON_INSTALL_PRELOADDIR})
  endforeach()
endfunction()

# A program of MPI's users, or with MODULE a library that they open, once for each MPI family: in <directory>, and in
# <directory>-mpich. LINK names the targets of FindMPI. With ONLY for some families.
function(halcyon_mpi_program name source)
  cmake_parse_arguments(PARSE_ARGV 2 program "MODULE" "DIRECTORY" "LINK;OPTIONS;ONLY")
  if(NOT program_ONLY)
    set(program_ONLY ${HALCYON_MPI_FAMILIES})
  endif()
  foreach(family IN LISTS program_ONLY)
    set(target ${name}${HALCYON_${family}_SUFFIX})
    set(directory ${PROJECT_BINARY_DIR}/${program_DIRECTORY}${HALCYON_${family}_SUFFIX})
    if(program_MODULE)
      add_library(${target} MODULE ${source})
    else()
      add_executable(${target} ${source})
    endif()
    list(TRANSFORM program_LINK REPLACE "^MPI::" "${family}::" OUTPUT_VARIABLE link)
    target_link_libraries(${target} PRIVATE ${link})
    target_compile_options(${target} PRIVATE ${program_OPTIONS})
    target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${directory}
      LIBRARY_OUTPUT_DIRECTORY ${directory})
  endforeach()
endfunction()

# What such programs need of MPICH, named as FindMPI names Open MPI's; FindMPI knows one family at a time.
if(HALCYON_MPICH_INCLUDE_DIR)
  find_library(HALCYON_MPICH_LIBRARY mpich DOC "MPICH's library, for tests")
  find_library(HALCYON_MPICH_FORTRAN_LIBRARY mpichfort DOC "MPICH's Fortran library, for tests")
  foreach(language C CXX Fortran)
    add_library(MPICH::MPI_${language} INTERFACE IMPORTED)
    target_include_directories(MPICH::MPI_${language} SYSTEM INTERFACE ${HALCYON_MPICH_INCLUDE_DIR})
    target_link_libraries(MPICH::MPI_${language} INTERFACE
      $<$<STREQUAL:${language},Fortran>:${HALCYON_MPICH_FORTRAN_LIBRARY}> ${HALCYON_MPICH_LIBRARY})
  endforeach()
  # gcc takes MPI_STATUSES_IGNORE, which is no address there, for an array of no size.
  target_compile_options(MPICH::MPI_C INTERFACE -Wno-stringop-overflow)
  # The compiler holds the different types of one MPI routine's arguments against each other, as mpif.h declares none.
  target_compile_options(MPICH::MPI_Fortran INTERFACE -fallow-argument-mismatch -fallow-invalid-boz)
endif()
