// intM's only state: the SPECs in force, and the delay injected so far.
#pragma once

#include "libprofile/interpose/call_class.hpp"
#include "libprofile/interpose/outermost_call.hpp"

namespace halcyon {

/// To be called after a successful MPI_Init*. Reads INTM_SPEC and INTM_SEED; from then on calls are delayed.
void begin_injection() noexcept;
/// To be called before MPI_Finalize.
void end_injection() noexcept;

/// Whether it is between the two.
bool is_injecting() noexcept;

/// Delays the calling thread as the SPECs say for a call of this class. Does nothing before begin_injection().
void inject(CallClass call_class) noexcept;

extern constinit thread_local OutermostCall outermost_call __attribute__((tls_model("initial-exec")));

}  // namespace halcyon
