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
target_include_directories(halcyon_common SYSTEM INTERFACE ${HALCYON_XXHASH_INCLUDE_DIR})
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

# The interfaces between a program and its MPI library that preloaded libraries are made for, since their handles
# differ: MPI, which is Open MPI's; MPICH's, where its mpi.h is found; and the standard ABI, whose mpi.h is our own.
# For each, LIBRARIES names the libraries by the suffix of their names, and which parts of mpi.table each wraps
# (generate.py): Open MPI 5 and MPICH 4.2 have functions that their predecessors lack. Parts in several libraries are
# compiled once.
set(HALCYON_MPI_INTERFACES MPI)
get_target_property(HALCYON_MPI_INCLUDES MPI::MPI_C INTERFACE_INCLUDE_DIRECTORIES)
set(HALCYON_MPI_LIBRARIES ":3,posix:mpix" "-openmpi5:3,posix:4")
find_path(HALCYON_MPICH_INCLUDE_DIR mpi.h NO_DEFAULT_PATH
  PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/mpich /usr/include/mpich
  DOC "Where MPICH's mpi.h is; without it there are no libraries for MPICH")
if(HALCYON_MPICH_INCLUDE_DIR)
  list(APPEND HALCYON_MPI_INTERFACES MPICH)
  set(HALCYON_MPICH_INCLUDES ${HALCYON_MPICH_INCLUDE_DIR})
  set(HALCYON_MPICH_LIBRARIES "-mpich:3,4,large,posix" "-mpich5:3,4,large,posix:4.1,large")
else()
  message(STATUS "MPICH was not found (HALCYON_MPICH_INCLUDE_DIR): no libraries for it, and no tests with it")
endif()
list(APPEND HALCYON_MPI_INTERFACES ABI)
set(HALCYON_ABI_INCLUDES ${PROJECT_SOURCE_DIR}/libprofile/interpose/standard_abi ${PROJECT_BINARY_DIR}/standard_abi)
set(HALCYON_ABI_LIBRARIES "-abi:3,4,4.1,large,posix")
set(HALCYON_ABI_PROTOTYPES ${PROJECT_BINARY_DIR}/standard_abi/mpi_prototypes.h)

# The libraries beside libhalcyon.so, without the hyphen of their suffix.
set(HALCYON_OTHER_RECORDERS "")
foreach(interface IN LISTS HALCYON_MPI_INTERFACES)
  foreach(made IN LISTS HALCYON_${interface}_LIBRARIES)
    if(made MATCHES "^-([^:]+):")
      list(APPEND HALCYON_OTHER_RECORDERS ${CMAKE_MATCH_1})
    endif()
  endforeach()
endforeach()

# What programs are built for, with the suffix of their directories: Open MPI, MPICH, and what wheels have of Open MPI 5
# and of the standard ABI, where they are found (cmake/install-packages.sh).
set(HALCYON_MPI_FAMILIES MPI)
set(HALCYON_MPI_SUFFIX "")
if(HALCYON_MPICH_INCLUDE_DIR)
  list(APPEND HALCYON_MPI_FAMILIES MPICH)
  set(HALCYON_MPICH_SUFFIX "-mpich")
endif()
set(HALCYON_WHEELS_DIR ${PROJECT_BINARY_DIR}/../wheels CACHE PATH "Where MPI libraries of PyPI are, for tests")
function(halcyon_family_of_wheel family wheel suffix header library)
  set(prefix ${HALCYON_WHEELS_DIR}/${wheel})
  if(NOT HALCYON_BUILD_TESTS OR NOT EXISTS ${prefix}/include/${header})
    return()
  endif()
  set(HALCYON_MPI_FAMILIES ${HALCYON_MPI_FAMILIES} ${family} PARENT_SCOPE)
  set(HALCYON_${family}_SUFFIX ${suffix} PARENT_SCOPE)
  foreach(language C CXX)
    add_library(${family}::MPI_${language} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${family}::MPI_${language} SYSTEM INTERFACE ${prefix}/include)
    target_link_libraries(${family}::MPI_${language} INTERFACE ${prefix}/lib/${library})
    target_link_options(${family}::MPI_${language} INTERFACE -Wl,--allow-shlib-undefined)
  endforeach()
endfunction()
halcyon_family_of_wheel(OPENMPI5 openmpi5 -openmpi5 mpi.h libmpi.so.40)
halcyon_family_of_wheel(ABI mpich5 -abi mpi_abi.h libmpi_abi.so.1)
if(TARGET ABI::MPI_C)
  target_compile_definitions(ABI::MPI_C INTERFACE MPI_ABI)
  target_compile_definitions(ABI::MPI_CXX INTERFACE MPI_ABI)
endif()

# Something that generate.py makes of the tables: `what` is recorder, injector or prototypes.
set(HALCYON_INTERPOSE ${PROJECT_SOURCE_DIR}/libprofile/interpose)
function(halcyon_generate what parts output)
  add_custom_command(OUTPUT ${output}
    COMMAND ${HALCYON_PYTHON} ${HALCYON_INTERPOSE}/generate.py ${what} ${parts} ${output}
    DEPENDS ${HALCYON_INTERPOSE}/generate.py ${HALCYON_INTERPOSE}/mpi.table ${HALCYON_INTERPOSE}/posix.table
    VERBATIM)
endfunction()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/standard_abi)
halcyon_generate(prototypes 3,4,4.1,large ${HALCYON_ABI_PROTOTYPES})
add_custom_target(halcyon_standard_abi DEPENDS ${HALCYON_ABI_PROTOTYPES})

# How what is preloaded is compiled. A square root that need not set errno is one instruction, and nothing of libm.
function(halcyon_compile_preloaded target includes)
  target_link_libraries(${target} PRIVATE halcyon_common halcyon_preloaded_sanitizers)
  target_include_directories(${target} SYSTEM PRIVATE ${includes})
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON UNITY_BUILD ${HALCYON_UNITY_BUILD})
  target_compile_options(${target} PRIVATE -ftls-model=initial-exec -fno-semantic-interposition -fno-math-errno)
endfunction()

# The wrappers of some parts of the tables, as objects.
function(halcyon_wrappers target tool parts includes)
  set(wrappers ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  halcyon_generate(${tool} ${parts} ${wrappers})
  add_library(${target} OBJECT ${wrappers})
  halcyon_compile_preloaded(${target} "${includes}")
  # The hand-written wrappers of what other parts have are not used here.
  target_compile_options(${target} PRIVATE -Wno-unused-function)
  # An exception or a cancelled thread that comes through a wrapper is unwound by the program's libgcc_s, and a second
  # copy aborts when it is handed the first one's context: wrappers have nothing for it to call.
  target_compile_options(${target} PRIVATE -fno-exceptions)
  if(HALCYON_SANITIZE_PRELOADED MATCHES "address")
    # A frame that is left so keeps the sanitizer's marks on the stack, where the next one finds them.
    target_compile_options(${target} PRIVATE --param=asan-stack=0)
  endif()
endfunction()

# Libraries to be preloaded, all that the interfaces name: wrappers for `tool` (recorder or injector) out of the
# tables, and nothing but libc needed at run time. Undefined symbols are an error, so that no MPI symbol can slip in: it
# would keep `ls` from starting. WITHOUT_MPI: sources that do not include mpi.h, compiled once for all interfaces.
function(halcyon_preload_library base tool)
  cmake_parse_arguments(PARSE_ARGV 2 library "" "" "SOURCES;WITHOUT_MPI;INCLUDES")
  add_library(${base}_without_mpi OBJECT ${HALCYON_INTERPOSE}/loaded_mpi.cpp ${HALCYON_INTERPOSE}/next.cpp
    ${HALCYON_INTERPOSE}/outermost_call.cpp ${HALCYON_INTERPOSE}/variadic.cpp ${library_WITHOUT_MPI})
  halcyon_compile_preloaded(${base}_without_mpi "${library_INCLUDES}")
  foreach(interface IN LISTS HALCYON_MPI_INTERFACES)
    string(TOLOWER ${base}_of_${interface} of_interface)
    set(includes ${HALCYON_${interface}_INCLUDES} ${library_INCLUDES})
    add_library(${of_interface} OBJECT ${HALCYON_INTERPOSE}/mpi_runtime.cpp ${library_SOURCES})
    halcyon_compile_preloaded(${of_interface} "${includes}")
    add_dependencies(${of_interface} halcyon_standard_abi)
    foreach(made IN LISTS HALCYON_${interface}_LIBRARIES)
      string(REGEX MATCH "^([^:]*):(.*)$" whole "${made}")
      set(suffix ${CMAKE_MATCH_1})
      string(REPLACE ":" ";" all_parts ${CMAKE_MATCH_2})
      set(name ${base}${suffix})
      set(objects $<TARGET_OBJECTS:${of_interface}> $<TARGET_OBJECTS:${base}_without_mpi>)
      foreach(parts IN LISTS all_parts)
        string(REGEX REPLACE "[^a-z0-9]" "_" wrappers "${of_interface}_wrappers_${parts}")
        if(NOT TARGET ${wrappers})
          halcyon_wrappers(${wrappers} ${tool} ${parts} "${includes}")
          add_dependencies(${wrappers} halcyon_standard_abi)
        endif()
        list(APPEND objects $<TARGET_OBJECTS:${wrappers}>)
      endforeach()
      add_library(${name} SHARED ${objects})
      target_link_libraries(${name} PRIVATE halcyon_preloaded_sanitizers)
      set_target_properties(${name} PROPERTIES OUTPUT_NAME ${name} EXPORT_NAME ${tool}${suffix} LINKER_LANGUAGE CXX)
      target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs
        -Wl,--version-script=${HALCYON_INTERPOSE}/preload.map -Wl,-z,now)
      install(TARGETS ${name} EXPORT HalcyonTargets LIBRARY DESTINATION ${HALCYON_INSTALL_PRELOADDIR})
    endforeach()
  endforeach()
endfunction()

# A program of MPI's users, or with MODULE a library that they open, once for each MPI family: in <directory>, and in
# <directory>-mpich. LINK names the targets of FindMPI. With ONLY for some families. Wheels have no Fortran.
function(halcyon_mpi_program name source)
  cmake_parse_arguments(PARSE_ARGV 2 program "MODULE" "DIRECTORY" "LINK;OPTIONS;ONLY")
  if(NOT program_ONLY)
    set(program_ONLY ${HALCYON_MPI_FAMILIES})
  endif()
  foreach(family IN LISTS program_ONLY)
    list(FIND HALCYON_MPI_FAMILIES ${family} is_here)
    if(is_here EQUAL -1 OR ("MPI::MPI_Fortran" IN_LIST program_LINK AND NOT TARGET ${family}::MPI_Fortran))
      continue()
    endif()
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
