# Where things are installed, and how they find each other: by relative paths, so that an installation can be moved.
include_guard()
include(GNUInstallDirs)

# Libraries that are preloaded by path, never linked: none of the linker's business.
set(HALCYON_INSTALL_PRELOADDIR ${CMAKE_INSTALL_LIBDIR}/halcyon)
set(HALCYON_INSTALL_LIBEXECDIR ${CMAKE_INSTALL_LIBEXECDIR}/halcyon)

function(halcyon_relative_path result from to)
  foreach(end from to)
    cmake_path(ABSOLUTE_PATH ${end} BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} NORMALIZE)
  endforeach()
  cmake_path(RELATIVE_PATH to BASE_DIRECTORY ${from})
  set(${result} ${to} PARENT_SCOPE)
endfunction()
halcyon_relative_path(HALCYON_PRELOADDIR_FROM_BINDIR ${CMAKE_INSTALL_BINDIR} ${HALCYON_INSTALL_PRELOADDIR})
halcyon_relative_path(HALCYON_BINDIR_FROM_LIBEXECDIR ${HALCYON_INSTALL_LIBEXECDIR} ${CMAKE_INSTALL_BINDIR})
halcyon_relative_path(HALCYON_LIBEXECDIR_FROM_PRELOADDIR ${HALCYON_INSTALL_PRELOADDIR} ${HALCYON_INSTALL_LIBEXECDIR})
