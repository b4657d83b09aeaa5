// The call site of a Fortran program.
#pragma once

#include "libprofile/record/recorder.hpp"

namespace halcyon {

/// Remembers where a Fortran program made the call that its MPI layer is about to make for it.
class FortranSite {
 public:
  explicit FortranSite(const void* site) {
    if (!recording.load(std::memory_order_acquire)) return;
    thread_ = &current_thread();
    outer_ = thread_->fortran_site;
    thread_->fortran_site = site;
  }
  ~FortranSite() {
    if (thread_ != nullptr) thread_->fortran_site = outer_;
  }
  FortranSite(const FortranSite&) = delete;
  FortranSite& operator=(const FortranSite&) = delete;

 private:
  ThreadState* thread_ = nullptr;
  const void* outer_ = nullptr;
};

}  // namespace halcyon
