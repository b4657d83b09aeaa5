# Libraries that a build can do without. What is missing without them is told when the build is configured, and by
# `halcyon doctor`.
include_guard()

set(HALCYON_WITHOUT "" CACHE STRING "Leave these out, even where they are found: any of papi, libdw, re2, sqlite3 and libpq")
set(HALCYON_BUILT_WITH "")
set(HALCYON_LEFT_OUT "")  # as C++: of each its name, and what is missing

# Looks for `library` of pkg-config. Where it is found, there is a target PkgConfig::<name>.
function(halcyon_optional name library loss)
  if(NOT library IN_LIST HALCYON_WITHOUT)
    pkg_check_modules(${name} IMPORTED_TARGET GLOBAL ${library})
  endif()
  if(TARGET PkgConfig::${name})
    set(HALCYON_BUILT_WITH ${HALCYON_BUILT_WITH} ${library} PARENT_SCOPE)
    return()
  endif()
  message(STATUS "Without ${library}: ${loss}")
  set(HALCYON_LEFT_OUT "${HALCYON_LEFT_OUT}{\"${library}\", \"${loss}\"}, " PARENT_SCOPE)
endfunction()
