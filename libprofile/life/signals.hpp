// Handles signals that end a program (time limit of a batch system, user, fault): saves the records first.
#pragma once

namespace halcyon {

/// Handlers that are there already, those of the program, of MPI and of libraries below it, are called after ours.
/// Signals that are ignored stay so. May be called again where another tool has set further handlers.
void catch_signals();
void release_signals();

}  // namespace halcyon
