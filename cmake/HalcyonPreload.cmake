# How preloaded libraries are made.
include_guard()
include(HalcyonInterfaces)

set(HALCYON_SANITIZE_PRELOADED "" CACHE STRING
  "Sanitizers for the preloaded libraries, whose runtime must then be preloaded with them, such as thread")
halcyon_sanitizers(halcyon_preloaded_sanitizers "${HALCYON_SANITIZE_PRELOADED}")

# Something that generate.py makes of a set of functions of the tables. `what`: recorder, injector or prototypes.
set(HALCYON_INTERPOSE ${PROJECT_SOURCE_DIR}/libprofile/interpose)
function(halcyon_generate what function_set output)
  add_custom_command(OUTPUT ${output}
    COMMAND ${HALCYON_PYTHON} ${HALCYON_INTERPOSE}/generate.py ${what} ${function_set} ${output}
    DEPENDS ${HALCYON_INTERPOSE}/generate.py ${HALCYON_INTERPOSE}/mpi.table ${HALCYON_INTERPOSE}/posix.table
      ${HALCYON_INTERPOSE}/device.table
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
  # The states of all threads are initialized by the compiler, and clang counts its steps.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-fconstexpr-steps=100000000>)
endfunction()

# The hand-written wrappers of functions in other sets are not used. For clang the last word counts, and the words of what
# a target links with come after its own.
add_library(halcyon_unused_wrappers INTERFACE)
target_compile_options(halcyon_unused_wrappers INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-unused-function>)

# The wrappers of a set of functions, as objects.
function(halcyon_wrappers target tool function_set includes)
  set(wrappers ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  halcyon_generate(${tool} ${function_set} ${wrappers})
  add_library(${target} OBJECT ${wrappers})
  halcyon_compile_preloaded(${target} "${includes}")
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-unused-function>)
  target_link_libraries(${target} PRIVATE halcyon_unused_wrappers)
  # An exception or a cancelled thread that comes through a wrapper is unwound by the program's libgcc_s, and a second
  # copy aborts when it is handed the first one's context: wrappers have nothing for it to call.
  target_compile_options(${target} PRIVATE -fno-exceptions)
  # A poll copies a few handles: a loop is faster than a call of memcpy.
  target_compile_options(${target} PRIVATE
    $<IF:$<CXX_COMPILER_ID:GNU>,-fno-tree-loop-distribute-patterns,-fno-builtin-memcpy>)
  if(HALCYON_SANITIZE_PRELOADED MATCHES "address")
    # A frame that is left so keeps the sanitizer's marks on the stack, where the next one finds them.
    target_compile_options(${target} PRIVATE --param=asan-stack=0)
  endif()
endfunction()

# Makes the libraries of `tool` (recorder or injector) for all interfaces: targets <tool><suffix>, files
# lib<base><suffix>.so. They need nothing but libc at run time. Undefined symbols are an error, so that no MPI symbol can
# slip in: it would keep `ls` from starting. WITHOUT_MPI: sources that do not include mpi.h, compiled once for all
# interfaces.
function(halcyon_preload_libraries tool base)
  cmake_parse_arguments(PARSE_ARGV 2 library "" "" "SOURCES;WITHOUT_MPI;INCLUDES")
  add_library(${tool}_without_mpi OBJECT ${HALCYON_INTERPOSE}/loaded_mpi.cpp ${HALCYON_INTERPOSE}/next.cpp
    ${HALCYON_INTERPOSE}/outermost_call.cpp ${HALCYON_INTERPOSE}/open_files.cpp
    ${PROJECT_SOURCE_DIR}/libprofile/system/process_memory.cpp ${library_WITHOUT_MPI})
  halcyon_compile_preloaded(${tool}_without_mpi "${library_INCLUDES}")
  foreach(interface IN LISTS HALCYON_INTERFACES)
    string(TOLOWER ${tool}_of_${interface} of_interface)
    add_library(${of_interface} OBJECT ${HALCYON_INTERPOSE}/looked_up.cpp ${HALCYON_INTERPOSE}/mpi_runtime.cpp
      ${library_SOURCES})
    halcyon_compile_preloaded(${of_interface} "${HALCYON_INCLUDES_OF_${interface}};${library_INCLUDES}")
    add_dependencies(${of_interface} halcyon_standard_abi)
  endforeach()
  foreach(mpi IN LISTS HALCYON_LIBRARIES)
    set(interface ${HALCYON_INTERFACE_OF_${mpi}})
    string(TOLOWER ${tool}_of_${interface} of_interface)
    set(objects $<TARGET_OBJECTS:${of_interface}> $<TARGET_OBJECTS:${tool}_without_mpi>)
    foreach(function_set IN LISTS HALCYON_SETS_OF_${mpi})
      string(REGEX REPLACE "[^a-z0-9]" "_" wrappers "${of_interface}_wrappers_${function_set}")
      if(NOT TARGET ${wrappers})
        halcyon_wrappers(${wrappers} ${tool} ${function_set} "${HALCYON_INCLUDES_OF_${interface}};${library_INCLUDES}")
        add_dependencies(${wrappers} halcyon_standard_abi)
      endif()
      list(APPEND objects $<TARGET_OBJECTS:${wrappers}>)
    endforeach()
    set(suffix "${HALCYON_SUFFIX_OF_${mpi}}")
    add_library(${tool}${suffix} SHARED ${objects})
    target_link_libraries(${tool}${suffix} PRIVATE halcyon_preloaded_sanitizers)
    set_target_properties(${tool}${suffix} PROPERTIES OUTPUT_NAME ${base}${suffix} LINKER_LANGUAGE CXX)
    target_link_options(${tool}${suffix} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs
      -Wl,--version-script=${HALCYON_INTERPOSE}/preload.map -Wl,-z,now)
    install(TARGETS ${tool}${suffix} EXPORT HalcyonTargets LIBRARY DESTINATION ${HALCYON_INSTALL_PRELOADDIR})
  endforeach()
endfunction()
