// Handles signals that end a program (time limit of a batch system, user, fault): saves the records first.
#pragma once

namespace halcyon {

/// Handlers that are there already, those of the program, of MPI and of libraries below it, are called after ours.
/// Signals that are ignored stay so. May be called again where another tool has set further handlers.
void catch_signals();
void release_signals();

/// This thread is about to send a signal to itself, or to its process: if that may end the process, the records are
/// saved first. Async-signal-safe.
enum class Receiver { thread, process };
void prepare_for_own_signal(int number, Receiver receiver);
/// It could not be sent after all: the next one may end the process. Async-signal-safe.
void own_signal_was_not_sent(int number);
/// The same for abort(), which after a handler that returns sends the signal again.
void prepare_for_abort();

}  // namespace halcyon
