// A Reduce or Gather, and the Bcast or Scatter from the same process that follows: nobody leaves the second before all
// have come to the first, so that the two are one global synchronisation.
#pragma once

namespace halcyon {

/// Where all have come to, as one thread knows by its own calls. All ranks make these in the same order, so that they
/// agree on which of them are pairs; what lies between two of them is no matter, since ranks may differ in it.
class Gathering {
 public:
  static constexpr int nowhere = -1;

  /// Processes are ranks of the world; `nowhere` is one that is not in it.
  void at(int process) { process_ = process; }
  /// A collective over all that is no half of a pair.
  void forget() { process_ = nowhere; }
  bool is_known() const { return process_ != nowhere; }
  /// Data comes from the process to all; true where that makes a pair. Either way the next pair begins anew.
  bool ends_from(int process) {
    const bool is_pair = is_known() && process == process_;
    forget();
    return is_pair;
  }

 private:
  int process_ = nowhere;
};

}  // namespace halcyon
