// Values that several threads need, each made by the first of them that does.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory_resource>
#include <mutex>

namespace halcyon {

/// Something that is done once, by the first thread that needs it; others wait until it is done. std::call_once does
/// the same, but glibc ends a program in which an exception passes through that when memory has run out.
class Once {
 public:
  template <class Do>
  void run(const Do& what) {
    if (is_done_.load(std::memory_order_acquire)) return;
    const std::lock_guard alone(running_);
    if (is_done_.load(std::memory_order_relaxed)) return;
    what();
    is_done_.store(true, std::memory_order_release);
  }

 private:
  std::atomic<bool> is_done_ = false;
  std::mutex running_;
};

/// A map whose values are made when they are first asked for. Meanwhile, other threads can make and look up other
/// values. The values lie in large blocks, since threads other than the first get memory from malloc page by page, with
/// a system call for each.
template <class Key, class Value>
class MadeOnce {
 public:
  /// The value of this key. `make(value)` fills it in, once. It stays where it is.
  template <class Make>
  Value& get(const Key& key, const Make& make) {
    Entry& entry = entry_of(key);
    entry.is_made.run([&] { make(entry.value); });
    return entry.value;
  }

 private:
  struct Entry {
    Once is_made;
    Value value;
  };

  Entry& entry_of(const Key& key) {
    const std::lock_guard alone(entries_change_);
    return entries_.try_emplace(key).first->second;
  }

  static constexpr std::size_t first_block = std::size_t{1} << 20;  // Numerics: bytes
  std::pmr::monotonic_buffer_resource memory_{first_block};
  std::pmr::map<Key, Entry> entries_{&memory_};
  std::mutex entries_change_;
};

}  // namespace halcyon
