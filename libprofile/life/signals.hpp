// Signals that end a program: a batch system's time limit, a user, a fault. What is recorded is kept first.
#pragma once

namespace halcyon {

/// What the program answers by itself, or ignores, is the program's.
void catch_signals();
void release_signals();

}  // namespace halcyon
