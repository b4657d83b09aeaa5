// Packs values as consecutive bytes, for messages between ranks and for parts. They are in the order of the calls, so
// both sides must use the same list.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace halcyon {

/// A number or an array of numbers: it has no padding, and no members whose order could change.
template <class T>
struct IsPlain : std::bool_constant<std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::byte>> {};
template <class T, std::size_t size>
struct IsPlain<std::array<T, size>> : IsPlain<T> {};

class Packer {
 public:
  template <class T>
  void put(const T* values, std::size_t count) {
    static_assert(IsPlain<T>::value);
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

/// The same into existing memory, which must be large enough: a signal handler cannot allocate any.
class Cursor {
 public:
  explicit Cursor(std::byte* at) : begin_(at), at_(at) {}
  template <class T>
  void put(const T* values, std::size_t count) {
    static_assert(IsPlain<T>::value);
    std::memcpy(at_, values, count * sizeof(T));
    at_ += count * sizeof(T);
  }
  template <class T>
  void put(const T& value) {
    put(&value, 1);
  }
  void put_text(const std::string& text, std::size_t most) {
    const std::size_t size = std::min(text.size(), most);
    put(static_cast<std::uint32_t>(size));
    put(text.data(), size);
  }
  std::byte* skip(std::size_t bytes) {
    std::byte* const place = at_;
    at_ += bytes;
    return place;
  }
  std::size_t size() const { return static_cast<std::size_t>(at_ - begin_); }

 private:
  std::byte* begin_;
  std::byte* at_;
};

/// Throws std::runtime_error if the message is too short.
class Unpacker {
 public:
  explicit Unpacker(const std::vector<std::byte>& data) : data_(data) {}
  template <class T>
  void get(T* values, std::size_t count) {
    static_assert(IsPlain<T>::value);
    need(count, sizeof(T));
    std::copy_n(data_.data() + at_, count * sizeof(T), reinterpret_cast<std::byte*>(values));
    at_ += count * sizeof(T);
  }
  template <class T>
  void get(T& value) {
    get(&value, 1);
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
    if (count > (data_.size() - at_) / size) throw_cut_off();
  }
  [[noreturn]] static void throw_cut_off();  // in packer.cpp, since wrappers are compiled without exceptions

  const std::vector<std::byte>& data_;
  std::size_t at_ = 0;
};

/// The size of all numbers that `for_each(record, visit)` visits of a record.
template <class Record, class ForEach>
constexpr std::size_t packed_size(ForEach for_each) {
  std::size_t size = 0;
  Record record{};
  for_each(record, [&size](const auto& value) { size += sizeof value; });
  return size;
}

}  // namespace halcyon
