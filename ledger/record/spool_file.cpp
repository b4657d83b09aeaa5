#include "ledger/record/spool_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "ledger/record/columns.hpp"
#include "libprofile/format/stream.hpp"
#include "libprofile/system/cannot_write.hpp"
#include "libprofile/system/descriptor.hpp"
#include "libprofile/system/fnv1a.hpp"
#include "libprofile/system/legible.hpp"

namespace halcyon::ledger {
namespace {

using nlohmann::json;

constexpr std::size_t longest_first_line = 80;
constexpr std::size_t longest_text = 16384;  // bytes
constexpr std::size_t most_hosts = 1 << 20;
constexpr double most_number = 1e18;
constexpr int deepest = 3;  // of a value: the document, a table, a list, the value

template <class Row>
json object_of(const Row& row) {
  json object;
  for (const Column<Row>& column : columns_of<Row>()) {
    std::visit(
        [&](const auto& value) {
          json& at = object[std::string(column.name)];
          if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) at = value;
        },
        value_of(row, column));
  }
  return object;
}

template <class Row>
json lists_of(const std::vector<Row>& rows) {
  json lists = json::object();
  for (const Column<Row>& column : columns_of<Row>()) {
    json& list = lists[std::string(column.name)] = json::array();
    for (const Row& row : rows) {
      std::visit(
          [&list](const auto& value) {
            if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
              list.push_back(nullptr);
            } else {
              list.push_back(value);
            }
          },
          value_of(row, column));
    }
  }
  return lists;
}

// Reads tables. After the first thing that is wrong, the rest is not looked at.
class Reading {
 public:
  Reading(const json& document, int version) : document_(document), version_(version) {}

  const std::string& wrong() const { return wrong_; }
  void refuse(std::string why) {
    if (wrong_.empty()) wrong_ = std::move(why);
  }

  template <class Row>
  void object(const char* table, Row& row) {
    for_each_column<Row>(table, [&](const Column<Row>& column, const json& value) { set(table, column, value, row); });
  }

  template <class Row>
  void lists(const char* table, std::size_t most, std::vector<Row>& rows) {
    bool is_first = true;
    for_each_column<Row>(table, [&](const Column<Row>& column, const json& list) {
      if (!list.is_array() || list.size() > most || (!is_first && list.size() != rows.size())) {
        return refuse(fmt::format("its {} are not as many as there are rows of {}", column.name, table));
      }
      rows.resize(list.size());
      is_first = false;
      for (std::size_t i = 0; i < rows.size() && wrong_.empty(); ++i) set(table, column, list[i], rows[i]);
    });
  }

 private:
  template <class Row, class Visit>
  void for_each_column(const char* table, Visit&& visit) {
    const auto found = document_.find(table);
    if (found == document_.end() || !found->is_object()) return refuse(fmt::format("it has no {}", table));
    std::size_t known = 0;
    for (const Column<Row>& column : columns_of<Row>()) {
      if (column.since > version_) continue;
      ++known;
      const auto value = found->find(column.name);
      if (value == found->end()) return refuse(fmt::format("its {} has no {}", table, column.name));
      if (wrong_.empty()) visit(column, *value);
    }
    if (found->size() != known) refuse(fmt::format("its {} has columns that nobody knows", table));
  }

  template <class Row>
  void set(const char* table, const Column<Row>& column, const json& value, Row& row) {
    const auto impossible = [&] { refuse(fmt::format("its {}.{} is impossible", table, column.name)); };
    const auto number = [&](double least) {
      const double given = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
      if (!(given >= least && given <= most_number)) impossible();
      return given;
    };
    const double least = column.least == Least::none ? -most_number : column.least == Least::zero ? 0.0 : 1.0;
    if (const auto* text = std::get_if<std::string Row::*>(&column.member)) {
      if (!value.is_string() || value.get_ref<const std::string&>().size() > longest_text) return impossible();
      row.*(*text) = legible(value.get_ref<const std::string&>());
    } else if (const auto* whole = std::get_if<std::int64_t Row::*>(&column.member)) {
      if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > most_whole)) {
        return impossible();
      }
      row.*(*whole) = value.get<std::int64_t>();
      if (static_cast<double>(row.*(*whole)) < least) impossible();
    } else if (const auto* always = std::get_if<double Row::*>(&column.member)) {
      row.*(*always) = number(least);
    } else if (!value.is_null()) {
      row.*std::get<std::optional<double> Row::*>(column.member) = number(least);
    }
  }

  static constexpr auto most_whole = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

  const json& document_;
  int version_;
  std::string wrong_;
};

bool is_name(const std::string& text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == text.npos;
}

// What the columns by themselves do not tell.
void check_together(const RunRecord& record, Reading& reading) {
  const RunRow& run = record.run;
  if (!is_name(run.key)) reading.refuse("its run.run_key is impossible");
  if (!is_name(run.work) || run.work != record.work.work) reading.refuse("its run.work is impossible");
  constexpr std::array<std::string_view, 4> verdicts{"green", "yellow", "red", "unknown"};
  if (std::find(verdicts.begin(), verdicts.end(), run.verdict) == verdicts.end()) {
    reading.refuse("its run.verdict is impossible");
  }
  const bool has_estimate = run.undisturbed_seconds.has_value();
  if (run.undisturbed_low_seconds.has_value() != has_estimate ||
      run.undisturbed_high_seconds.has_value() != has_estimate ||
      (has_estimate && !(*run.undisturbed_low_seconds <= *run.undisturbed_seconds &&
                         *run.undisturbed_seconds <= *run.undisturbed_high_seconds))) {
    reading.refuse("the interval of its undisturbed time is impossible");
  }
  const std::int64_t step = run.slice_seconds;
  const auto hosts = static_cast<std::int64_t>(record.hosts.size());
  std::int64_t before = -1;
  for (const SliceRow& slice : record.slices) {
    if (step < 1 || slice.second <= before || slice.second % step != 0) {
      return reading.refuse("its slices are not in the order of time");
    }
    if (slice.host < -1 || slice.host >= hosts) return reading.refuse("its slice.host is impossible");
    before = slice.second;
  }
  constexpr auto most = static_cast<std::int64_t>(most_slices);
  if (!record.slices.empty() && (record.slices.back().second - record.slices.front().second) / step >= most) {
    reading.refuse(fmt::format("its slices are of a longer time than {} take", most));
  }
}

std::string checksum_of(std::string_view contents) { return fmt::format("{:016x}", fnv1a(contents)); }

template <class Number>
bool take_number(std::string_view& line, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, base);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (line.starts_with(' ')) line.remove_prefix(1);
  return true;
}

bool write_durably(const std::string& file, const std::string& text) {
  const Descriptor out(open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644));
  // Whoever ingests reads it, whatever the umask. The directory need not be listed by others.
  return out && fchmod(out.number(), 0644) == 0 && write_fully(out.number(), text.data(), text.size()) &&
         fsync(out.number()) == 0;
}

// What is collected of a run that has gone on must not take the place of the whole of it, which nobody has ingested
// yet.
bool is_known_better(const RunRecord& record, const std::string& file) {
  const Descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat state {};
  if (!in || fstat(in.number(), &state) != 0 || !S_ISREG(state.st_mode)) return false;
  std::string text(std::min(static_cast<std::size_t>(state.st_size), most_spool_bytes), '\0');
  if (!read_fully(in.number(), text.data(), text.size())) return false;
  const Outcome<SpooledRun> there = run_in(text);
  return there && knows_more(there->record.run, record.run);
}

}  // namespace

std::string spool_text(const RunRecord& record) {
  const json document{{"work", object_of(record.work)},
                      {"run", object_of(record.run)},
                      {"run_group", lists_of(record.groups)},
                      {"run_host", lists_of(record.hosts)},
                      {"slice", lists_of(record.slices)}};
  const std::string contents = document.dump() + "\n";
  return fmt::format("{}{} {} {}\n", beginning_of_spool_file, newest_spool_version, contents.size(),
                     checksum_of(contents)) +
         contents;
}

Outcome<SpooledRun> run_in(std::string_view text) {
  const std::size_t end = text.substr(0, longest_first_line).find('\n');
  if (!text.starts_with(beginning_of_spool_file)) return Failure{"it is no spool file of halcyon"};
  std::string_view line = text.substr(0, end).substr(beginning_of_spool_file.size());
  std::uint64_t version = 0;
  if (!take_number(line, version)) return Failure{"it is no spool file of halcyon"};
  if (version > newest_spool_version) {
    return Failure{fmt::format("a newer halcyon wrote it (version {}; this one reads up to {}): ingest it with that",
                               version, newest_spool_version)};
  }
  std::uint64_t bytes = 0;
  if (end == text.npos || !take_number(line, bytes)) return Failure{"it was cut off in its first line"};
  const std::string_view contents = text.substr(end + 1);
  if (contents.size() < bytes)
    return Failure{fmt::format("it was cut off: it has {} of {} bytes", contents.size(), bytes)};
  if (contents.size() > bytes) return Failure{fmt::format("{} bytes follow its end", contents.size() - bytes)};
  SpooledRun run{.checksum = checksum_of(contents)};
  if (line != run.checksum) return Failure{"its checksum is wrong: it was damaged"};
  const auto is_shallow = [](int depth, json::parse_event_t, const json&) { return depth <= deepest; };
  const json document = json::parse(contents, is_shallow, false);
  if (!document.is_object()) return Failure{"it is not JSON with tables"};
  Reading reading(document, static_cast<int>(version));
  reading.object("work", run.record.work);
  reading.object("run", run.record.run);
  reading.lists("run_group", most_groups, run.record.groups);
  reading.lists("run_host", most_hosts, run.record.hosts);
  reading.lists("slice", most_slices, run.record.slices);
  check_together(run.record, reading);
  if (!reading.wrong().empty()) return Failure{reading.wrong()};
  return run;
}

Outcome<std::string> spool(const RunRecord& record, const std::string& directory) {
  const std::string name = fmt::format("{}-{}.run", record.run.run, record.run.key);
  const std::string file = directory + "/" + name;
  const std::string fresh = fmt::format("{}/.{}-{}", directory, name, getpid());
  const bool is_written = write_durably(fresh, spool_text(record));
  if (is_written && is_known_better(record, file)) {
    unlink(fresh.c_str());
    return file;
  }
  if (!is_written || std::rename(fresh.c_str(), file.c_str()) != 0) {
    const int error = errno;
    unlink(fresh.c_str());
    return cannot_write(file, error);
  }
  const Descriptor place(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Who may put files into the spool may not list it, nor open it. The file is then as durable as its system makes it.
  if (!place && errno == EACCES) return file;
  if (!place || fsync(place.number()) != 0) return cannot_write(file, errno);
  return file;
}

}  // namespace halcyon::ledger
