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
  void at(int process) { process_plus_one_ = process + 1; }
  /// A collective over all ranks that is not half of a pair.
  void forget() { at(nowhere); }
  bool is_known() const { return process_plus_one_ != nowhere + 1; }
  /// The process sends data to all ranks. True if this completes a pair; either way the next pair begins anew.
  bool ends_from(int process) {
    const bool is_pair = is_known() && process + 1 == process_plus_one_;
    forget();
    return is_pair;
  }

 private:
  int process_plus_one_ = 0;  // nothing known is all zero bytes (threads.cpp)
};

}  // namespace halcyon
