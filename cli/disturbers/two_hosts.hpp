// Two hosts on one machine, joined by a link of 1 Gbit/s: network namespaces, for ranks that talk through a network
// that can be disturbed. Needs root and iproute2.
#pragma once

#include <string>
#include <vector>

#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

class TwoHosts {
 public:
  /// A failure says what is missing.
  static Outcome<TwoHosts> make();
  TwoHosts(TwoHosts&& other) noexcept;
  TwoHosts& operator=(TwoHosts&&) = delete;
  /// Both are gone with this, and with this process, however that ends.
  ~TwoHosts();

  /// Words before a launch command of Open MPI's: it starts on the first host, and its ranks by turns on both.
  std::vector<std::string> launch_prefix() const;

  /// The namespace of the first (0) or second (1), as a file to enter by setns.
  std::string network_of(int host) const;
  static const char* address_of(int host);

 private:
  TwoHosts() = default;

  int keepers_[2] = {-1, -1};  // processes in whose namespaces the hosts are
  int agent_ = -1;             // what mpirun calls in place of ssh, and the list of hosts: files in memory
  int host_list_ = -1;
};

}  // namespace halcyon::cli
