# What every target of the project has in common, and how preloaded libraries are made.
include_guard()

set(HALCYON_SANITIZE "" CACHE STRING "Sanitizers for everything but the preloaded libraries, such as address,undefined")

add_library(halcyon_common INTERFACE)
target_compile_features(halcyon_common INTERFACE cxx_std_20)
target_include_directories(halcyon_common INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_definitions(halcyon_common INTERFACE HALCYON_VERSION="${PROJECT_VERSION}")
target_compile_options(halcyon_common INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers
  $<$<BOOL:${HALCYON_WARNINGS_AS_ERRORS}>:-Werror>)

# A static library of the tools, with the sanitizers that were asked for.
function(halcyon_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC halcyon_common halcyon_sanitizers)
endfunction()

add_library(halcyon_sanitizers INTERFACE)
if(HALCYON_SANITIZE)
  target_compile_options(halcyon_sanitizers INTERFACE -fsanitize=${HALCYON_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(halcyon_sanitizers INTERFACE -fsanitize=${HALCYON_SANITIZE})
endif()

# Preprocessed mpi.h, from which the wrappers' prototypes are read.
get_target_property(_mpi_includes MPI::MPI_C INTERFACE_INCLUDE_DIRECTORIES)
list(TRANSFORM _mpi_includes PREPEND -I OUTPUT_VARIABLE HALCYON_MPI_INCLUDE_FLAGS)
set(HALCYON_MPI_DECLARATIONS ${PROJECT_BINARY_DIR}/mpi_declarations.i)
add_custom_command(OUTPUT ${HALCYON_MPI_DECLARATIONS}
  COMMAND ${CMAKE_C_COMPILER} ${HALCYON_MPI_INCLUDE_FLAGS} -DOMPI_SKIP_MPICXX -E
          ${PROJECT_SOURCE_DIR}/libprofile/interpose/mpi_declarations.h -o ${HALCYON_MPI_DECLARATIONS}
  DEPENDS ${PROJECT_SOURCE_DIR}/libprofile/interpose/mpi_declarations.h
  VERBATIM)
add_custom_target(halcyon_mpi_declarations DEPENDS ${HALCYON_MPI_DECLARATIONS})

# A library to be preloaded: wrappers for `tool` (recorder or injector) out of the tables, and nothing but libc needed at
# run time. Undefined symbols are an error, so that no MPI symbol can slip in: it would keep `ls` from starting.
function(halcyon_preload_library name tool)
  set(interpose ${PROJECT_SOURCE_DIR}/libprofile/interpose)
  set(wrappers ${CMAKE_CURRENT_BINARY_DIR}/${name}_wrappers.cpp)
  add_custom_command(OUTPUT ${wrappers}
    COMMAND ${HALCYON_PYTHON} ${interpose}/generate.py ${tool} ${HALCYON_MPI_DECLARATIONS} ${interpose}/mpi.table
            ${interpose}/posix.table ${wrappers}
    DEPENDS ${interpose}/generate.py ${interpose}/mpi.table ${interpose}/posix.table ${HALCYON_MPI_DECLARATIONS}
            halcyon_mpi_declarations
    VERBATIM)
  add_library(${name} SHARED ${wrappers} ${interpose}/next.cpp ${ARGN})
  target_link_libraries(${name} PRIVATE halcyon_common)
  target_include_directories(${name} SYSTEM PRIVATE ${_mpi_includes})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${name} CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  # A square root that need not set errno is one instruction, and nothing of libm.
  target_compile_options(${name} PRIVATE -ftls-model=initial-exec -fno-semantic-interposition -fno-math-errno)
  # An exception or a cancelled thread that comes through a wrapper is unwound by the program's libgcc_s, and a second
  # copy aborts when it is handed the first one's context: wrappers have nothing for it to call.
  set_source_files_properties(${wrappers} PROPERTIES COMPILE_OPTIONS -fno-exceptions)
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs
    -Wl,--version-script=${interpose}/preload.map -Wl,-z,now)
endfunction()
