// The recorder's own memory comes from the program's allocator, and if that fails, from the kernel. So a rank does not
// lose a boundary, and never leaves the others alone in the middle of a merge.
//
// These replace operator new and delete within this library only. Signal handlers do not allocate.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>

namespace {

/// Blocks from the kernel. What is taken is not given back: a program whose allocator fails does not last long.
class LastResort {
 public:
  void* take(std::size_t size) noexcept {
    constexpr std::size_t alignment = alignof(std::max_align_t);
    size = (size + alignment - 1) / alignment * alignment;
    const std::uint32_t used = used_.load(std::memory_order_acquire);
    if (used > 0) {
      if (void* const memory = blocks_[used - 1].take(size); memory != nullptr) return memory;
    }
    const std::uint32_t index = used_.fetch_add(1, std::memory_order_acq_rel);
    if (index >= blocks_.size()) return nullptr;
    return blocks_[index].open(std::max(size, usual_size)) ? blocks_[index].take(size) : nullptr;
  }
  bool owns(const void* memory) const noexcept {
    const std::size_t used = std::min<std::size_t>(used_.load(std::memory_order_acquire), blocks_.size());
    return std::any_of(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(used),
                       [memory](const Block& block) { return block.owns(memory); });
  }

 private:
  class Block {
   public:
    bool open(std::size_t size) noexcept {
      void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (memory == MAP_FAILED) return false;
      size_ = size;
      begin_.store(static_cast<std::byte*>(memory), std::memory_order_release);
      return true;
    }
    void* take(std::size_t size) noexcept {
      std::byte* const begin = begin_.load(std::memory_order_acquire);
      if (begin == nullptr) return nullptr;  // another thread is about to open it
      const std::size_t at = taken_.fetch_add(size, std::memory_order_relaxed);
      return at <= size_ && size <= size_ - at ? begin + at : nullptr;
    }
    bool owns(const void* memory) const noexcept {
      const std::byte* const begin = begin_.load(std::memory_order_acquire);
      const auto* const byte = static_cast<const std::byte*>(memory);
      return begin != nullptr && std::greater_equal<>()(byte, begin) && std::less<>()(byte, begin + size_);
    }

   private:
    std::atomic<std::byte*> begin_{nullptr};
    std::size_t size_ = 0;
    std::atomic<std::size_t> taken_{0};
  };

  static constexpr std::size_t usual_size = std::size_t{1} << 20;

  std::array<Block, 256> blocks_{};
  std::atomic<std::uint32_t> used_{0};
};

constinit LastResort last_resort;

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const memory = std::malloc(std::max<std::size_t>(size, 1));
  return memory != nullptr ? memory : last_resort.take(size);
}
void* operator new(std::size_t size) {
  void* const memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  if (memory != nullptr && !last_resort.owns(memory)) std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
