// Two hosts on one machine: network namespaces with a link of 1 Gbit/s between them, so that ranks communicate through
// a network that can be disturbed. Needs root and iproute2.
#pragma once

#include <string>
#include <vector>

#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

class TwoHosts {
 public:
  /// A failure says what is missing.
  static Outcome<TwoHosts> make();
  TwoHosts(TwoHosts&& other) noexcept;
  TwoHosts& operator=(TwoHosts&&) = delete;
  /// Both hosts disappear with this object, and with this process, for any end of it.
  ~TwoHosts();

  /// Words to put before an Open MPI launch command, so that it starts on the first host and its ranks in turn on both.
  std::vector<std::string> launch_prefix() const;

  /// The namespace of the first (0) or second (1) host, as a file for setns.
  std::string network_of(int host) const;
  static const char* address_of(int host);

 private:
  TwoHosts() = default;

  int keepers_[2] = {-1, -1};  // processes that keep the namespaces of the hosts alive
  int agent_ = -1;             // the script that mpirun calls instead of ssh, and the list of hosts: files in memory
  int host_list_ = -1;
};

}  // namespace halcyon::cli
