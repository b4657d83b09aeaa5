// Values one behind the other, in messages between ranks and in part files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace halcyon {

class Packer {
 public:
  template <class T>
  void put(const T* values, std::size_t count) {
    const auto* bytes = reinterpret_cast<const std::byte*>(values);
    data_.insert(data_.end(), bytes, bytes + count * sizeof(T));
  }
  template <class T>
  void put(const T& value) {
    put(&value, 1);
  }
  void put_text(const std::string& text) {
    put(static_cast<std::uint64_t>(text.size()));
    put(text.data(), text.size());
  }
  std::vector<std::byte> take() { return std::move(data_); }

 private:
  std::vector<std::byte> data_;
};

/// Throws std::runtime_error where the message is shorter than what is asked of it.
class Unpacker {
 public:
  explicit Unpacker(const std::vector<std::byte>& data) : data_(data) {}
  template <class T>
  void get(T* values, std::size_t count) {
    need(count, sizeof(T));
    std::copy_n(data_.data() + at_, count * sizeof(T), reinterpret_cast<std::byte*>(values));
    at_ += count * sizeof(T);
  }
  template <class T>
  T get() {
    T value;
    get(&value, 1);
    return value;
  }
  std::string get_text() {
    const auto size = get<std::uint64_t>();
    need(size, 1);
    std::string text(size, '\0');
    get(text.data(), text.size());
    return text;
  }
  bool at_end() const { return at_ == data_.size(); }

 private:
  void need(std::uint64_t count, std::size_t size) const {
    if (count > (data_.size() - at_) / size) throw std::runtime_error("it is cut off");
  }

  const std::vector<std::byte>& data_;
  std::size_t at_ = 0;
};

}  // namespace halcyon
