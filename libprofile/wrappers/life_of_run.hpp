// Wrappers of the calls that begin and end recording, and of the user's marks.
#pragma once

#include <cstdarg>

#include "libprofile/life/end.hpp"
#include "libprofile/life/exit_gate.hpp"
#include "libprofile/life/sessions.hpp"
#include "libprofile/life/start.hpp"
#include "libprofile/wrappers/recorded_call.hpp"

// The generated wrappers call these: one for each of these `special` and `life` lines of mpi.table.
namespace {

using namespace halcyon;  // NOLINT(google-build-using-namespace): the wrappers' own file

// Only the tool that they are meant for knows the arguments after the level. All argument registers are passed on;
// arguments on the stack are lost. The callee never reads what the program did not pass.
int wrap_MPI_Pcontrol(int (*next)(int, ...), Caller caller, int level, va_list arguments) {
  void* words[5];
  double reals[8];
  for (void*& word : words) word = va_arg(arguments, void*);
  for (double& real : reals) real = va_arg(arguments, double);
  const auto go_on = [&] {
    return next(level, words[0], words[1], words[2], words[3], words[4], reals[0], reals[1], reals[2], reals[3],
                reals[4], reals[5], reals[6], reals[7]);
  };
  RecordedCall call(CallClass::poll, caller);
  if (!call.records()) return go_on();
  const int result = go_on();
  call.ended();
  if (level >= 1) call.mark();
  return result;
}

int wrap_MPI_Init(int (*next)(int*, char***), Caller, int* argc, char*** argv) {
  const StartingRun run;
  const int result = next(argc, argv);
  if (result == MPI_SUCCESS) run.started();
  return result;
}

int wrap_MPI_Init_thread(int (*next)(int*, char***, int, int*), Caller, int* argc, char*** argv, int required,
                         int* provided) {
  const StartingRun run;
  const int result = next(argc, argv, required, provided);
  if (result == MPI_SUCCESS) run.started();
  return result;
}

template <class Info, class Errhandler>
int wrap_MPI_Session_init(int (*next)(Info, Errhandler, MPI_Session*), Caller, Info info, Errhandler handler,
                          MPI_Session* session) {
  const StartingRun run;
  const int result = next(info, handler, session);
  if (result == MPI_SUCCESS) session_began(run, *session);
  return result;
}

template <class Group, class Info, class Errhandler>
int wrap_MPI_Comm_create_from_group(int (*next)(Group, const char*, Info, Errhandler, MPI_Comm*), Caller caller,
                                    Group group, const char* tag, Info info, Errhandler handler, MPI_Comm* comm) {
  {
    RecordedCall call(CallClass::management, caller);
    if (call.records()) {
      const int result = next(group, tag, info, handler, comm);
      call.ended();
      return result;
    }
  }
  const int result = next(group, tag, info, handler, comm);
  if (result == MPI_SUCCESS) made_without_parent(*comm);
  return result;
}

int wrap_MPI_Session_finalize(int (*next)(MPI_Session*), Caller, MPI_Session* session) {
  session_ends();
  return next(session);
}

template <class Comm>
int wrap_MPI_Abort(int (*next)(Comm, int), Caller, Comm comm, int error_code) {
  abort_recording();
  return next(comm, error_code);
}

int wrap_MPI_Finalize(int (*next)(), Caller) {
  end_recording();
  return next();
}

}  // namespace
