#include "libprofile/reduce/writer_process.hpp"

#include <algorithm>
#include <vector>

#include "libprofile/format/stream.hpp"

namespace halcyon {

bool WriterProcess::start(const std::string& path, const std::string& spool, bool keeps_profile, std::string& error) {
  std::vector<std::string> words{path};
  if (!spool.empty()) words.push_back(spool);
  name_ = keeps_profile ? "halcyon-write" : "halcyon-save";
  return process_.start(name_, words, error);
}

Outcome<std::string> WriterProcess::finish(std::optional<std::chrono::milliseconds> longest_silence) {
  const std::optional<std::string> told = process_.answer(longest_silence);
  if (!told) return Failure{"the file system does not answer"};
  const std::string answer = told->substr(std::min(told->find_first_not_of(still_writes), told->size()));
  if (answer.rfind("ok: ", 0) == 0) return answer.substr(4);
  if (answer.rfind("error: ", 0) == 0) return Failure{answer.substr(7)};
  return Failure{answer.empty() ? name_ + " ended without an answer, perhaps because it cannot start here" : answer};
}

}  // namespace halcyon
