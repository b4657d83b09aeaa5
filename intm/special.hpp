// The life of a run, as intM sees it; named by the generated wrappers.
#pragma once

#include "intm/hooks.hpp"

namespace {

int wrap_MPI_Init(int (*next)(int*, char***), halcyon::Caller, int* argc, char*** argv) {
  const int result = next(argc, argv);
  if (result == MPI_SUCCESS) halcyon::begin_injection();
  return result;
}

int wrap_MPI_Init_thread(int (*next)(int*, char***, int, int*), halcyon::Caller, int* argc, char*** argv, int required,
                         int* provided) {
  const int result = next(argc, argv, required, provided);
  if (result == MPI_SUCCESS) halcyon::begin_injection();
  return result;
}

int wrap_MPI_Finalize(int (*next)(), halcyon::Caller) {
  halcyon::end_injection();
  return next();
}

}  // namespace
