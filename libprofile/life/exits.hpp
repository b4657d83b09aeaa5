// How a process ends itself.
#pragma once

namespace halcyon {

/// Has quick_exit, and exits of several threads at once, save the records. To be called once.
void watch_exits();

}  // namespace halcyon
