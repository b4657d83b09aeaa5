#include "libprofile/interpose/posix.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using halcyon::Taken;

// A stream of the text, which ends without a line end.
FILE* stream_of(const std::string& text) {
  FILE* const stream = std::tmpfile();
  std::fwrite(text.data(), 1, text.size(), stream);
  std::rewind(stream);
  return stream;
}

std::int64_t taken_by_scans(FILE* stream, const char* format) {
  char word[10000];
  std::int64_t sum = 0;
  for (int fields = 1; fields == 1;) {
    const Taken taken(stream);
    fields = std::fscanf(stream, format, word);
    sum += taken.bytes();
  }
  return sum;
}

TEST(Taken, ScansTakeAllBytesOfAFile) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::to_string(i * i) + (i % 7 == 0 ? "\n" : "  ");
  for (std::size_t length = text.size() - 5000; length < text.size(); length += 7) {
    FILE* const stream = stream_of(text.substr(0, length));
    ASSERT_EQ(taken_by_scans(stream, "%s"), static_cast<std::int64_t>(length));
    std::fclose(stream);
  }
}

TEST(Taken, AScanMayFillTheBufferAgain) {
  const std::string text = "short " + std::string(3000, 'a') + " " + std::string(3000, 'b') + std::string(900, ' ');
  FILE* const stream = stream_of(text);
  EXPECT_EQ(taken_by_scans(stream, "%s"), static_cast<std::int64_t>(text.size()));
  std::fclose(stream);
}

TEST(Taken, ACharacterThatWasPutBackIsTakenAgain) {
  FILE* const stream = stream_of("12 34");
  std::ungetc(std::fgetc(stream), stream);
  EXPECT_EQ(taken_by_scans(stream, "%s"), 5);
  std::fclose(stream);
}

}  // namespace
