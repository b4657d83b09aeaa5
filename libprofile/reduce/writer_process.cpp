#include "libprofile/reduce/writer_process.hpp"

#include <vector>

namespace halcyon {

bool WriterProcess::start(const std::string& path, const std::string& spool, std::string& error) {
  std::vector<std::string> words{path};
  if (!spool.empty()) words.push_back(spool);
  return process_.start("halcyon-write", words, error);
}

Outcome<std::string> WriterProcess::finish() {
  const std::string answer = process_.answer().value_or("");
  if (answer.rfind("ok: ", 0) == 0) return answer.substr(4);
  if (answer.rfind("error: ", 0) == 0) return Failure{answer.substr(7)};
  return Failure{answer.empty() ? "halcyon-write ended without an answer, perhaps because it cannot start here"
                                : answer};
}

}  // namespace halcyon
