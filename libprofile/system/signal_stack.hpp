// A stack for signal handlers: a thread whose own stack is full has none to save the records on.
#pragma once

namespace halcyon {

/// Gives the calling thread one, unless it has one. `memory`: what an ended thread was given, or null; then what this
/// thread has. True if its stack is that of `memory`. Async-signal-safe.
bool give_signal_stack(void*& memory);

}  // namespace halcyon
