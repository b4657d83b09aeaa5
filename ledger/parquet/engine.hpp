// The process that reads and writes a data set of Parquet: a script of Python (engine.py), which is built in, with
// DuckDB or Spark. What it can do, and how it is asked, is in the script's head.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::ledger {

class ParquetEngine {
 public:
  /// For the data set in this directory. `tables`: the types of their columns. Without a name of an engine, that which
  /// HALCYON_PARQUET_ENGINE names, or DuckDB.
  static Outcome<std::unique_ptr<ParquetEngine>> start(const std::string& directory,
                                                       const nlohmann::ordered_json& tables, std::string engine = {});
  ~ParquetEngine();
  ParquetEngine(const ParquetEngine&) = delete;
  ParquetEngine& operator=(const ParquetEngine&) = delete;

  /// Rows come as lists of lists.
  Status ask(
      const nlohmann::ordered_json& request,
      const std::function<void(const nlohmann::json& rows)>& visit = [](const nlohmann::json&) {});

 private:
  ParquetEngine(std::string directory, std::string name) : directory_(std::move(directory)), name_(std::move(name)) {}
  Status spawn();
  bool send(const std::string& line) const;
  bool receive(std::string& line);
  int wait();
  Failure ended();

  std::string directory_;
  std::string name_;
  pid_t process_ = -1;
  Descriptor socket_;
  Descriptor said_;  // what the process and its libraries print
  std::string received_;
  std::size_t looked_at_ = 0;  // of what was received, where there is no end of a line
};

}  // namespace halcyon::ledger
