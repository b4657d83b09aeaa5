// How a process ends itself.
#pragma once

namespace halcyon {

/// quick_exit will save the records. To be called once.
void save_at_quick_exit();

}  // namespace halcyon
