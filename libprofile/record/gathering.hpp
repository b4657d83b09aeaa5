// A rooted pair: a Reduce or Gather, and then a Bcast or Scatter from the same process. No rank leaves the second
// before all ranks have entered the first, so the two are one global synchronisation.
#pragma once

namespace halcyon {

/// The process where all ranks have gathered, according to the calls of one thread. All ranks make the calls of a pair
/// in the same order, so they agree on the pairs. Calls between the two do not matter: ranks may differ in them.
class Gathering {
 public:
  static constexpr int nowhere = -1;

  /// `process`: a rank of the world, or `nowhere` if it is not in this world.
  void at(int process) { process_ = process; }
  /// A collective over all ranks that is not half of a pair.
  void forget() { process_ = nowhere; }
  bool is_known() const { return process_ != nowhere; }
  /// The process sends data to all ranks. True if this completes a pair; either way the next pair begins anew.
  bool ends_from(int process) {
    const bool is_pair = is_known() && process == process_;
    forget();
    return is_pair;
  }

 private:
  int process_ = nowhere;
};

}  // namespace halcyon
