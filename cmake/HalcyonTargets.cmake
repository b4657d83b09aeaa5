# What every target of the project has in common.
include_guard()

set(HALCYON_SANITIZE "" CACHE STRING "Sanitizers for everything but the preloaded libraries, such as address,undefined")

# Headers of the standard library, fmt, JSON and Eigen take half of the time of a compilation.
option(HALCYON_UNITY_BUILD "Compile several sources of a target as one; a full build then takes half of the time" ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24)  # more in one leave a processor idle at the end; fewer parse the headers more often

add_library(halcyon_common INTERFACE)
target_compile_features(halcyon_common INTERFACE cxx_std_20)
target_include_directories(halcyon_common INTERFACE ${PROJECT_SOURCE_DIR})
target_include_directories(halcyon_common SYSTEM INTERFACE ${HALCYON_XXHASH_INCLUDE_DIR})
target_compile_definitions(halcyon_common INTERFACE HALCYON_VERSION="${PROJECT_VERSION}")
target_compile_options(halcyon_common INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers
  # C++20 allows a macro's '...' to have no argument, which older clang takes for an extension of GNU's.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,Clang>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,19>>:-Wno-gnu-zero-variadic-macro-arguments>
  $<$<NOT:$<BOOL:${HALCYON_UNITY_BUILD}>>:-Wshadow>  # sources compiled as one see the names of each other
  $<$<BOOL:${HALCYON_WARNINGS_AS_ERRORS}>:-Werror>)

# A static library of the tools, with the sanitizers that were asked for.
function(halcyon_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC halcyon_common halcyon_sanitizers)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${HALCYON_UNITY_BUILD})
endfunction()

# For code that words results, starts programs or judges a few runs. It compiles in four fifths of the time, and no user
# notices how fast it runs: traces and tables take 4 % longer.
function(halcyon_optimize_less)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
  endforeach()
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

# A program that reads or writes profiles runs where a module file may have put another HDF5 of the same name in front: it
# takes the one that it was built with. A RUNPATH would come after LD_LIBRARY_PATH, an RPATH comes before it.
get_filename_component(HALCYON_HDF5_DIR ${HALCYON_HDF5_HL} REALPATH)
get_filename_component(HALCYON_HDF5_DIR ${HALCYON_HDF5_DIR} DIRECTORY)
if(CMAKE_SYSROOT)  # it is elsewhere on the machine that the program is built for
  get_filename_component(root ${CMAKE_SYSROOT} REALPATH)
  string(REPLACE "${root}/" "/" HALCYON_HDF5_DIR ${HALCYON_HDF5_DIR})
endif()
function(halcyon_keeps_its_hdf5 program)
  if(HALCYON_HDF5_HL MATCHES "\\.a$")
    return()  # it is in the program
  endif()
  set_target_properties(${program} PROPERTIES BUILD_RPATH ${HALCYON_HDF5_DIR} INSTALL_RPATH ${HALCYON_HDF5_DIR})
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endfunction()
