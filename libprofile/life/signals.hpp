// Handles signals that end a program (time limit of a batch system, user, fault): saves the records first.
#pragma once

namespace halcyon {

/// Signals that the program handles or ignores are left to the program.
void catch_signals();
void release_signals();

}  // namespace halcyon
