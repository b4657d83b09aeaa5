// Constants that can be set while a program runs. bench/constants.py makes those of a copy of the analyzer such; the
// analyzer itself does not know this file.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace halcyon {

/// Multiplies numbers by a factor. Whole numbers are rounded, but change at least by 1.
struct Scale {
  double factor = 1.0;

  template <std::floating_point T>
  T operator()(T value) const {
    return factor == 1.0 ? value : static_cast<T>(value * factor);
  }
  template <std::integral T>
  T operator()(T value) const {
    if (factor == 1.0) return value;
    const T moved = static_cast<T>(std::llround(static_cast<double>(value) * factor));
    if (moved != value) return moved;
    return factor > 1.0 ? static_cast<T>(value + 1) : static_cast<T>(value - 1);
  }
};

// Each value has pages of its own, so that reading it can be noticed by their protection.
struct TunedValue {
  std::string key;
  std::byte* pages = nullptr;
  std::size_t bytes = 0;
  std::function<void()> make;        // from its expression, which may name others
  std::vector<std::size_t> made_of;  // others, by number
  std::atomic<bool> is_read = false;
};

struct Tuning {
  static constexpr std::size_t most = 4096;

  std::recursive_mutex change;
  std::array<std::unique_ptr<TunedValue>, most> values;  // in the order of making, so that none is made of a later one
  std::atomic<std::size_t> count = 0;
  std::map<std::string, double, std::less<>> factors;  // that are not 1

  void protect(int protection) {
    for (std::size_t i = 0; i < count; ++i) mprotect(values[i]->pages, values[i]->bytes, protection);
  }
  double factor_of(std::string_view key) const {
    const auto found = factors.find(key);
    return found == factors.end() ? 1.0 : found->second;
  }
};

inline Tuning& tuning() {
  static Tuning& only = *new Tuning;  // never destroyed: other statics refer to it
  return only;
}

/// A constant: `make` gives its value, given a Scale.
template <class T, class Make>
const T& tuned(std::string_view key, Make make) {
  Tuning& all = tuning();
  const std::lock_guard alone(all.change);
  for (std::size_t i = 0; i < all.count; ++i) {
    if (all.values[i]->key == key) return *std::launder(reinterpret_cast<const T*>(all.values[i]->pages));
  }
  auto value = std::make_unique<TunedValue>();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  value->key = key;
  value->bytes = (sizeof(T) + page - 1) / page * page;
  value->pages =
      static_cast<std::byte*>(mmap(nullptr, value->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (all.count == Tuning::most || value->pages == MAP_FAILED) std::abort();
  T* const place = new (value->pages) T(make(Scale{all.factor_of(key)}));
  value->make = [&all, place, make, name = value->key] { *place = make(Scale{all.factor_of(name)}); };
  all.values[all.count] = std::move(value);
  ++all.count;
  return *place;
}

/// Something that is made of constants once, and made again when one changes.
template <class T, class Make>
const T& made_of_tuned(std::string_view key, Make make) {
  return tuned<T>(key, [make](Scale) { return make(); });
}

/// Sets a constant to `factor` times its value, and all that are made of it. No other thread may read them meanwhile.
inline void set_tuned(std::string_view key, double factor) {
  Tuning& all = tuning();
  all.factors.insert_or_assign(std::string(key), factor);
  for (std::size_t i = 0; i < all.count; ++i) all.values[i]->make();
}

namespace tuned_details {

inline void on_read(int, siginfo_t* info, void*) {
  Tuning& all = tuning();
  const auto* const at = static_cast<const std::byte*>(info->si_addr);
  for (std::size_t i = 0; i < all.count; ++i) {
    TunedValue& value = *all.values[i];
    if (at < value.pages || at >= value.pages + value.bytes) continue;
    value.is_read = true;
    mprotect(value.pages, value.bytes, PROT_READ | PROT_WRITE);
    return;
  }
  signal(SIGSEGV, SIG_DFL);  // a real fault: it comes again
}

}  // namespace tuned_details

/// Which constants `work` reads, by number, without those that are behind what was made before.
template <class Work>
std::vector<std::size_t> read_by(const Work& work) {
  struct sigaction action = {};
  action.sa_sigaction = tuned_details::on_read;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  Tuning& all = tuning();
  for (std::size_t i = 0; i < all.count; ++i) all.values[i]->is_read = false;
  const std::size_t before = all.count;
  all.protect(PROT_NONE);
  work();
  all.protect(PROT_READ | PROT_WRITE);
  std::vector<std::size_t> read;
  for (std::size_t i = 0; i < all.count; ++i) {
    if (i >= before || all.values[i]->is_read) read.push_back(i);
  }
  return read;
}

/// Finds out which constants are made of which.
inline void find_what_is_made_of_what() {
  Tuning& all = tuning();
  for (std::size_t i = 0; i < all.count; ++i) {
    all.values[i]->made_of = read_by([&] { all.values[i]->make(); });
    std::erase(all.values[i]->made_of, i);
  }
}

}  // namespace halcyon
