#include "ledger/parquet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "ledger/parquet/engine.hpp"
#include "ledger/schema.hpp"
#include "ledger/values.hpp"
#include "libprofile/system/cannot_write.hpp"
#include "libprofile/system/utc.hpp"

namespace halcyon::ledger {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* version_table = "halcyon_ledger";
constexpr std::int64_t nanoseconds_of_one_day = 86400 * nanoseconds_of_a_second;
// Numerics: runs whose rows are read at a time. PostgreSQL hands over all of them at once.
constexpr std::size_t most_runs_at_once = 1000;

const Connection::Dialect& dialect_of_parquet() {
  static const Connection::Dialect dialect{.whole = "BIGINT",
                                           .number = "DOUBLE",
                                           .of_runs = "",
                                           .of_parts = "",
                                           .has_partitions = false,
                                           .has_roles = false,
                                           .most_values = 65535,
                                           .after_slimming = ""};
  return dialect;
}

/// A column that is in the table, but no member of its row.
struct Further {
  const char* name;
  const char* type;
};

template <class RowType>
void add_table(ordered_json& tables, std::string_view name, std::initializer_list<Further> further) {
  ordered_json& columns = tables[std::string(name)];
  for (const Further& column : further) columns[column.name] = column.type;
  for (const Column<RowType>& column : columns_of<RowType>()) {
    const bool is_text = std::holds_alternative<std::string RowType::*>(column.member);
    const bool is_whole = std::holds_alternative<std::int64_t RowType::*>(column.member);
    columns[std::string(column.name)] = is_text    ? "VARCHAR"
                                        : is_whole ? dialect_of_parquet().whole
                                                   : dialect_of_parquet().number;
  }
}

ordered_json tables_of_parquet() {
  const char* const whole = dialect_of_parquet().whole;
  ordered_json tables;
  tables[version_table] = {{"version", whole}, {"made_by", "VARCHAR"}};
  add_table<WorkRow>(tables, work_table, {});
  add_table<RunRow>(tables, run_table, {{"contents", "VARCHAR"}});
  add_table<GroupRow>(tables, group_table, {{"run", whole}, {"number", whole}});
  add_table<HostRow>(tables, host_table, {{"run", whole}, {"number", whole}});
  add_table<SliceRow>(tables, slice_table, {{"run", whole}});
  return tables;
}

Value value_in(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  return {};
}

ordered_json json_of(const Value& value) {
  return std::visit(
      [](const auto& known) -> ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(known)>, std::monostate>) {
          return nullptr;
        } else {
          return known;
        }
      },
      value);
}

Status run_by(ParquetEngine& engine, const std::string& sql, Values values,
              const std::function<void(const Row&)>& visit) {
  ordered_json request{{"sql", sql}, {"values", ordered_json::array()}};
  for (const Value& value : values) request["values"].push_back(json_of(value));
  Row row;
  return engine.ask(request, [&](const json& rows) {
    for (const json& one : rows) {
      row.clear();
      for (const json& value : one) row.push_back(value_in(value));
      visit(row);
    }
  });
}

class Parquet final : public Connection {
 public:
  explicit Parquet(std::unique_ptr<ParquetEngine> engine) : engine_(std::move(engine)) {}

  Status run(const std::string& sql, Values values, const std::function<void(const Row&)>& visit) override {
    return run_by(*engine_, sql, values, visit);
  }
  Status begin() override { return Failure{"a data set of Parquet is only read"}; }
  Outcome<bool> has_table(const std::string&) override { return true; }
  const Dialect& dialect() const override { return dialect_of_parquet(); }

 private:
  std::unique_ptr<ParquetEngine> engine_;
};

bool is_data_set(const fs::path& directory) {
  std::error_code none;
  return fs::exists(directory / version_table / (std::string(version_table) + ".parquet"), none);
}

/// Rows on their way to the engine, a line each.
class StagedRows {
 public:
  StagedRows(const fs::path& place, std::string_view table) : file_(place / (std::string(table) + ".json")) {
    errno = 0;
    out_.open(file_, std::ios::trunc);
  }

  void add(const std::vector<std::string>& names, const Row& row) {
    ordered_json object;
    for (std::size_t i = 0; i < names.size(); ++i) object[names[i]] = json_of(row[i]);
    out_ << object.dump(-1, ' ', true, ordered_json::error_handler_t::replace) << '\n';
  }

  Status end() {
    out_.close();
    if (out_) return Done{};
    return cannot_write(file_.string(), errno != 0 ? errno : EIO);
  }

 private:
  fs::path file_;
  std::ofstream out_;
};

class Exporting {
 public:
  Exporting(Ledger& ledger, const std::string& directory) : ledger_(ledger), directory_(directory) {}
  ~Exporting() {
    std::error_code none;
    if (is_locked_) fs::remove_all(staged(), none);
  }
  Exporting(const Exporting&) = delete;
  Exporting& operator=(const Exporting&) = delete;

  Outcome<Exported> all(const std::function<void(const Exported&, std::size_t days)>& progress) {
    for (const auto step : {&Exporting::open, &Exporting::find_news}) {
      if (const Status done = (this->*step)(); !done) return done.failure();
    }
    if (days_.empty()) return done_;
    if (const Status stored = store_works(); !stored) return stored.failure();
    for (const auto& [day, runs] : days_) {
      progress(done_, days_.size());
      if (const Status stored = store_day(day, runs); !stored) return stored.failure();
      ++done_.days;
    }
    return done_;
  }

 private:
  fs::path staged() const { return fs::path(directory_) / ".new"; }

  Status open() {
    std::error_code error;
    fs::create_directories(directory_, error);
    const bool is_new = !error && !is_data_set(directory_);
    if (is_new && !fs::is_empty(directory_, error) && !fs::exists(fs::path(directory_) / ".lock")) {
      return Failure{directory_ + " has other files: name a new directory, or one that an export has made"};
    }
    if (error) return Failure{fmt::format("{}: {}", directory_, error.message())};
    Outcome<std::unique_ptr<ParquetEngine>> engine = ParquetEngine::start(directory_, tables_of_parquet(), "duckdb");
    if (!engine) return engine.failure();
    engine_ = std::move(*engine);
    if (const Status locked = engine_->ask({{"lock", true}}); !locked) return locked;
    is_locked_ = true;
    fs::remove_all(staged(), error);
    fs::create_directory(staged(), error);
    if (error) return Failure{fmt::format("{}: {}", staged().string(), error.message())};
    return store_version();
  }

  Status store_version() {
    std::int64_t version = 0;
    if (is_data_set(directory_)) {
      const Status read = run_by(*engine_, fmt::format("SELECT MAX(version) FROM {}", version_table), {},
                                 [&version](const Row& row) { version = whole_in(row.front()); });
      if (!read) return read;
    }
    if (version == newest_schema) return Done{};
    if (version > newest_schema) {
      return Failure{
          fmt::format("a newer halcyon made the ledger in {} (version {}; this one knows up to {}): use that",
                      directory_, version, newest_schema)};
    }
    StagedRows rows(staged(), version_table);
    rows.add({"version", "made_by"}, {std::int64_t{newest_schema}, std::string("halcyon " HALCYON_VERSION)});
    return stored(rows, {version_table}, "", "version");
  }

  // Runs of which the data set does not have these contents, by day.
  Status find_news() {
    struct Known {
      std::int64_t run;
      std::size_t contents;
    };
    const std::string sql = fmt::format("SELECT run, contents FROM {} ORDER BY run", run_table);
    const std::hash<std::string> hash;
    std::vector<Known> known;
    const Status read = run_by(*engine_, sql, {}, [&](const Row& row) {
      known.push_back({whole_in(row[0]), hash(text_in(row[1]))});
    });
    if (!read) return Failure{read.failure().message + " (without the files of its day, that is exported again)"};
    auto at = known.begin();
    return ledger_.connection().run(sql, {}, [&](const Row& row) {
      ++done_.in_ledger;
      const std::int64_t run = whole_in(row[0]);
      while (at != known.end() && at->run < run) ++at;
      const bool is_there = at != known.end() && at->run == run;
      if (is_there && at->contents == hash(text_in(row[1]))) return;
      ++(is_there ? done_.replaced : done_.runs);
      days_[run / nanoseconds_of_one_day].push_back(run);
    });
  }

  Status store_works() {
    StagedRows rows(staged(), work_table);
    const std::vector<std::string> names = columns_in_ledger<WorkRow>({});
    Status read = ledger_.connection().run(fmt::format("SELECT {} FROM {}", fmt::join(names, ", "), work_table), {},
                                           [&](const Row& row) { rows.add(names, row); });
    return read ? stored(rows, {work_table}, "", "work") : read;
  }

  // What became of a run since it was listed is seen again by the next export, as long as its own row was read first.
  Status store_day(std::int64_t day, const std::vector<std::int64_t>& runs) {
    Status read = stage<RunRow>(run_table, {"contents"}, runs);
    if (read) read = stage<GroupRow>(group_table, {"run", "number"}, runs);
    if (read) read = stage<HostRow>(host_table, {"run", "number"}, runs);
    if (read) read = stage<SliceRow>(slice_table, {"run"}, runs);
    if (!read) return read;
    return engine_->ask(
        request({slice_table, group_table, host_table, run_table}, utc_text(day * 86400, "%Y-%m-%d"), "run"));
  }

  template <class RowType>
  Status stage(std::string_view table, std::initializer_list<const char*> key, const std::vector<std::int64_t>& runs) {
    StagedRows rows(staged(), table);
    const std::vector<std::string> names = columns_in_ledger<RowType>(key);
    const auto number = static_cast<std::size_t>(std::ranges::find(names, "run") - names.begin());
    const std::string sql =
        fmt::format("SELECT {} FROM {} WHERE run >= $1 AND run <= $2", fmt::join(names, ", "), table);
    for (std::size_t first = 0; first < runs.size(); first += most_runs_at_once) {
      const std::size_t last = std::min(first + most_runs_at_once, runs.size()) - 1;
      const std::array<Value, 2> ends{runs[first], runs[last]};
      const Status read = ledger_.connection().run(sql, ends, [&](const Row& row) {
        if (std::ranges::binary_search(runs, whole_in(row[number]))) rows.add(names, row);
      });
      if (!read) return read;
    }
    return rows.end();
  }

  // Those that it has: an older ledger lacks some.
  template <class RowType>
  std::vector<std::string> columns_in_ledger(std::initializer_list<const char*> key) const {
    std::vector<std::string> names(key.begin(), key.end());
    for (const Column<RowType>& column : columns_of<RowType>()) {
      if (column.since <= ledger_.schema()) names.emplace_back(column.name);
    }
    return names;
  }

  static ordered_json request(std::initializer_list<std::string_view> tables, const std::string& day, const char* key) {
    ordered_json asked{{"store", ordered_json::array()}, {"day", day}, {"key", key}};
    for (const std::string_view table : tables) asked["store"].push_back(std::string(table));
    return asked;
  }
  Status stored(StagedRows& rows, std::initializer_list<std::string_view> tables, const std::string& day,
                const char* key) {
    const Status written = rows.end();
    return written ? engine_->ask(request(tables, day, key)) : written;
  }

  Ledger& ledger_;
  const std::string& directory_;
  std::unique_ptr<ParquetEngine> engine_;
  bool is_locked_ = false;
  std::map<std::int64_t, std::vector<std::int64_t>> days_;  // since 1970: runs of each, in order
  Exported done_;
};

}  // namespace

Outcome<Exported> export_to_parquet(Ledger& ledger, const std::string& directory,
                                    const std::function<void(const Exported& so_far, std::size_t days)>& progress) {
  return Exporting(ledger, directory).all(progress);
}

Outcome<std::unique_ptr<Connection>> connect_to_parquet(const std::string& directory, Use use) {
  if (use == Use::writes) {
    return Failure{directory + ": a data set of Parquet is only read: change its ledger, and export that again"};
  }
  if (!is_data_set(directory)) {
    return Failure{directory + " has no ledger of Parquet: halcyon ledger export makes one"};
  }
  Outcome<std::unique_ptr<ParquetEngine>> engine = ParquetEngine::start(directory, tables_of_parquet());
  if (!engine) return engine.failure();
  return {std::make_unique<Parquet>(std::move(*engine))};
}

}  // namespace halcyon::ledger
