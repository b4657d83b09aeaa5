// The call site of a Fortran program.
#pragma once

#include "libprofile/record/recorder.hpp"

namespace halcyon {

/// Remembers where a Fortran program called MPI; the C call itself comes from MPI's Fortran layer.
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
