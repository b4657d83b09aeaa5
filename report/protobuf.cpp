#include "report/protobuf.hpp"

#include <bit>

namespace halcyon::protobuf {
namespace {

enum class WireType : std::uint8_t { varint = 0, eight_bytes = 1, counted_bytes = 2 };

// Seven bits a byte, the lowest first. The highest bit tells that more follow.
void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void append_tag(std::string& out, std::uint32_t field, WireType type) {
  append_varint(out, std::uint64_t{field} << 3 | static_cast<std::uint64_t>(type));
}

}  // namespace

void append_number(std::string& message, std::uint32_t field, std::uint64_t value) {
  append_tag(message, field, WireType::varint);
  append_varint(message, value);
}

void append_double(std::string& message, std::uint32_t field, double value) {
  append_tag(message, field, WireType::eight_bytes);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  for (int byte = 0; byte < 8; ++byte) message.push_back(static_cast<char>(bits >> 8 * byte));
}

void append_bytes(std::string& message, std::uint32_t field, std::string_view bytes) {
  append_tag(message, field, WireType::counted_bytes);
  append_varint(message, bytes.size());
  message.append(bytes);
}

}  // namespace halcyon::protobuf
