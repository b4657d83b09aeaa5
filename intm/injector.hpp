// intM's single state: the SPECs in force, and what has been added so far.
#pragma once

#include "libprofile/interpose/call_class.hpp"
#include "libprofile/interpose/outermost_call.hpp"

namespace halcyon {

/// After a successful MPI_Init*: reads INTM_SPEC and INTM_SEED; from now on calls are delayed.
void begin_injection() noexcept;
/// Before MPI_Finalize.
void end_injection() noexcept;

/// Delays the calling thread as the SPECs say for a call of this class. Nothing before begin_injection().
void inject(CallClass call_class) noexcept;

extern constinit thread_local OutermostCall outermost_call __attribute__((tls_model("initial-exec")));

}  // namespace halcyon
