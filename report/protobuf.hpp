// Fields of a message in the wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halcyon::protobuf {

/// Each appends one field, by its number in the message's definition.
void append_number(std::string& message, std::uint32_t field, std::uint64_t value);
void append_double(std::string& message, std::uint32_t field, double value);
/// A text, which must be UTF-8, or another message.
void append_bytes(std::string& message, std::uint32_t field, std::string_view bytes);

}  // namespace halcyon::protobuf
