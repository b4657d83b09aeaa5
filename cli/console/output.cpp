#include "cli/console/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <new>
#include <string_view>
#include <system_error>
#include <nlohmann/json.hpp>

#include "libprofile/system/cannot_write.hpp"
#include "report/json.hpp"

namespace halcyon::cli {

namespace fs = std::filesystem;

std::string words_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "there is not enough memory (see ulimit -v)";
  std::error_code gone;
  if (const auto* file = dynamic_cast<const fs::filesystem_error*>(&error)) {
    const fs::path here = fs::current_path(gone);
    if (here.empty()) return "the current directory is gone: change to another";
    return file->path1().string() + ": " + file->code().message();
  }
  const auto* system = dynamic_cast<const std::system_error*>(&error);
  if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again) {
    return "no process or thread can be started (see ulimit -u and ulimit -v)";
  }
  return error.what();
}

namespace {

// Some file systems, such as /proc, take no files although the directory may be written. A full one may have room when
// the file is written.
std::string objection_to_new_files(const fs::path& directory) {
  const std::string probe = directory / fmt::format(".halcyon-{}", getpid());
  const int file = open(probe.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) {
    const bool may_have_room_later = errno == ENOSPC || errno == EDQUOT || errno == EEXIST;
    return may_have_room_later ? "" : directory.string() + ": no file can be made there; name another place";
  }
  close(file);
  unlink(probe.c_str());
  return {};
}

}  // namespace

std::string objection_to_directory(const fs::path& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (!fs::exists(status)) {
    const bool is_missing = status.type() == fs::file_type::not_found;
    return directory.string() + (is_missing ? " does not exist" : ": " + error.message());
  }
  if (!fs::is_directory(status)) return directory.string() + " is not a directory";
  if (access(directory.c_str(), W_OK | X_OK) != 0) return directory.string() + ": " + std::strerror(errno);
  return objection_to_new_files(directory);
}

bool is_hdf5(const std::string& file) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  std::array<char, signature.size()> begin{};
  std::ifstream in(file, std::ios::binary);
  return in.read(begin.data(), begin.size()) && std::string_view(begin.data(), begin.size()) == signature;
}

namespace {

using halcyon::cannot_write;
std::string cannot_write(const std::string& path, const std::string& why) {
  return "cannot write " + path + ": " + why;
}

}  // namespace

std::string objection_to_place(const std::string& path) {
  if (path.empty()) return "cannot write to a file without a name";
  std::error_code error;
  const fs::path file = fs::absolute(path, error);
  if (error) return cannot_write(path, "the current directory is gone");
  if (fs::is_directory(file, error)) return cannot_write(path, "it is a directory: name a file in it");
  if (fs::exists(file, error) && !fs::is_regular_file(file, error)) return cannot_write(path, "it is no regular file");
  // What is added to the name of a profile: a number if it is there already, and endings of parts.
  constexpr std::size_t room = 16;
  const long longest = pathconf(file.parent_path().c_str(), _PC_NAME_MAX);
  if (longest > 0 && file.filename().native().size() + room > static_cast<std::size_t>(longest)) {
    return cannot_write(path, "its name is too long");
  }
  const std::string objection = objection_to_directory(file.parent_path());
  return objection.empty() ? objection : cannot_write(path, objection);
}

std::string objection_to_writing(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error) || fs::is_directory(path, error)) return objection_to_place(path);
  // A pipe or a device may be in a directory that takes no new files.
  if (access(path.c_str(), W_OK) != 0) return cannot_write(path, errno).message;
  return fs::is_regular_file(path, error) && is_hdf5(path)
             ? path + " is a profile, and profiles are never overwritten: name another file"
             : std::string();
}

std::string objection_to_new_profile(const std::string& path) {
  std::error_code error;
  const bool is_taken = fs::exists(path, error) && !fs::is_directory(path, error);
  return is_taken ? path + " exists; profiles are never overwritten: remove it or give another name"
                  : objection_to_place(path);
}

namespace {

// 0: it is written.
int error_of_writing(const std::string& file, const std::function<void(std::ostream& out)>& write) {
  std::ofstream out(file);
  if (out) write(out);
  if (out.flush()) return 0;
  return errno != 0 ? errno : EIO;
}

// Not a pipe or a device, nor a file in a directory that takes no new ones.
bool can_be_replaced(const fs::path& place) {
  std::error_code error;
  const bool is_there = fs::exists(place, error);
  return (!is_there || fs::is_regular_file(place, error)) && access(place.parent_path().c_str(), W_OK | X_OK) == 0;
}

}  // namespace

Status write_file(const std::string& file, const std::function<void(std::ostream& out)>& write) {
  if (const std::string objection = objection_to_writing(file); !objection.empty()) return Failure{objection};
  std::error_code none;
  const fs::path place = fs::weakly_canonical(fs::absolute(file, none), none);  // a symbolic link stays one
  if (!can_be_replaced(place)) {
    const int error = error_of_writing(file, write);
    return error == 0 ? Status(Done{}) : cannot_write(file, error);
  }
  const std::string next = fmt::format("{}.{}.tmp", place.string(), getpid());
  int error = error_of_writing(next, write);
  if (const fs::file_status old = fs::status(place, none); error == 0 && fs::exists(old)) {
    fs::permissions(next, old.permissions(), none);
  }
  if (error == 0 && std::rename(next.c_str(), place.c_str()) != 0) error = errno;
  if (error == 0) return Done{};
  unlink(next.c_str());
  return cannot_write(file, error);
}

Status write_file(const std::string& file, const std::string& text) {
  return write_file(file, [&text](std::ostream& out) { out << text; });
}

Status print_text(const std::string& text) {
  std::cout << text;
  if (!std::cout.flush()) return Failure{"cannot write to standard output"};
  return Done{};
}

Status print_result(const std::string& text, const nlohmann::ordered_json& document, const std::string& json) {
  // The file comes first: printing fails if the reader of standard output has left (`| head`).
  if (!json.empty() && json != "-") {
    if (Status written = write_file(json, to_text(document)); !written) return written;
  }
  return print_text(json == "-" ? to_text(document) : text);
}

Status print_result_anyway(const std::string& text, const nlohmann::ordered_json& document, const std::string& json) {
  const bool is_file = !json.empty() && json != "-";
  Status written = is_file ? write_file(json, to_text(document)) : Status(Done{});
  Status printed = print_result(text, document, is_file ? "" : json);
  return written ? printed : written;
}

void show_end_of(const std::string& log) {
  constexpr std::size_t most_lines = 20;
  std::deque<std::string> lines;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
    if (lines.size() > most_lines) lines.pop_front();
  }
  for (std::string& line : lines) {
    std::replace(line.begin(), line.end(), '\t', ' ');
    std::fprintf(stderr, "%s\n", briefly(line).c_str());
  }
}

}  // namespace halcyon::cli
