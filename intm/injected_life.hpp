// Wrappers of MPI_Init* and MPI_Finalize, between which calls are delayed. The generated wrappers use them by name.
#pragma once

#include "intm/delayed_call.hpp"

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
