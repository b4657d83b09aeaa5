// Good live records, and what a reader publishes of one, as bytes to be changed.
#pragma once

#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "libprofile/live/publication.hpp"
#include "libprofile/live/reader.hpp"
#include "libprofile/live/writer.hpp"
#include "tests/fuzz/steering.hpp"

namespace halcyon::fuzz {

/// The directory of the records in scratch(); it goes with the process.
struct RecordDirectory {
  std::string path = live::directory_of_records(scratch());
  ~RecordDirectory() { std::filesystem::remove_all(path); }
};

/// A directory of publications in scratch(), and the name of the one file in it; they go with the process.
struct PublicationDirectory {
  std::string path = scratch() + "/published";
  std::string name = "record.host.live";
  PublicationDirectory() { std::filesystem::create_directory(path); }
  ~PublicationDirectory() { std::filesystem::remove_all(path); }
};

inline void write_private(const std::string& file, const std::string& content) {
  std::ofstream(file, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  chmod(file.c_str(), 0600);
}

inline std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The record of some ranks of a job of `all`. The first rank has so many segments, most of which end at the same
/// place; the others have few. The last rank has left it.
inline std::string good_record(const std::vector<int>& ranks, int all, std::size_t segments) {
  constexpr std::size_t few = 3;
  const std::string& root = scratch();
  std::vector<std::unique_ptr<live::Writer>> writers;
  const std::array<std::uint64_t, feature_count> counted{};
  for (const int rank : ranks) {
    live::Writer& writer = *writers.emplace_back(std::make_unique<live::Writer>());
    writer.join({.record = "good", .job = "1", .command = "./app", .rank = rank, .ranks = all}, root);
    promise(writer.is_on(), "a record");
    Measured<double> measured{};
    for (std::size_t i = 0; i < (rank == ranks.front() ? segments : few); ++i) {
      measured[index_of(Measure::duration)] = 1e6 + 1e3 * static_cast<double>(i % 7) + (i % 11 == 5 ? 1e6 : 0.0);
      writer.add(measured, {}, i < 3 ? i : 0, "barrier@app+0x10");
    }
    writer.publish({.last_end = 1, .last = measured, .counted = &counted});
  }
  writers.back()->leave();
  const std::string content = content_of(live::directory_of_records(root) + "/good");
  for (const auto& writer : writers) writer->leave();
  return content;
}

/// What a reader publishes of such a record.
inline std::string good_publication(const std::string& record) {
  const RecordDirectory records;
  const PublicationDirectory published;
  std::filesystem::create_directory(records.path);
  chmod(records.path.c_str(), 0700);
  const std::string file = records.path + "/record";
  write_private(file, record);
  const Outcome<live::Reader> reader = live::Reader::open(file);
  promise(static_cast<bool>(reader), "the record is opened");
  const Outcome<live::Publication> publication = reader->read_to_publish();
  promise(publication && publication->write_to(published.path), "the record is published");
  return content_of(published.path + "/" + live::find_publications(published.path)->front());
}

/// Overwrites eight bytes at this place, or at the rest of its division by the size.
inline void put_anything(std::string& content, std::size_t at, Steering& steering) {
  const double real = steering.real();
  const std::int64_t integer = steering.integer();
  const bool is_real = steering.byte() % 2 == 0;
  std::memcpy(&content[at % (content.size() - sizeof real)], is_real ? static_cast<const void*>(&real) : &integer,
              sizeof real);
}

}  // namespace halcyon::fuzz
