#include "cli/kept/kept_targets.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace halcyon::cli {
namespace {

using nlohmann::ordered_json;

constexpr RecordLimits limits{.most_records = 256, .most_bytes = std::size_t{8} << 10};
constexpr int record_version = 1;

std::string name_of(const RegulatedProgram& program) {
  return record_name_of(
      {program.command, std::to_string(program.ranks), fmt::format("{}", fmt::join(program.metrics, " "))});
}

// Means of squares and of products with times are finite, and none is below 0.
bool is_mean(const ordered_json& value) {
  return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0.0;
}

bool are_means(const ordered_json& values, std::size_t count) {
  if (!values.is_array() || values.size() != count) return false;
  for (const ordered_json& value : values) {
    if (!is_mean(value)) return false;
  }
  return true;
}

std::optional<LearnedRates> rates_from(const ordered_json& record, std::size_t metrics) {
  const auto member = [&record](const char* name) { return record.value(name, ordered_json()); };
  if (!record.is_object() || member("kind") != "targets" || member("version") != record_version) return std::nullopt;
  const ordered_json testpoints = member("testpoints");
  const ordered_json products = member("products");
  if (!testpoints.is_number_unsigned() || testpoints.get<std::uint64_t>() == 0 || !is_mean(member("rate")) ||
      !are_means(member("durations"), metrics) || !are_means(products, metrics * metrics)) {
    return std::nullopt;
  }
  const auto size = static_cast<Eigen::Index>(metrics);
  LearnedRates learned{.testpoints = testpoints.get<std::uint64_t>(),
                          .rate = member("rate").get<double>(),
                          .products = Eigen::MatrixXd::Zero(size, size),
                          .durations = Eigen::VectorXd::Zero(size)};
  for (Eigen::Index i = 0; i < size; ++i) {
    learned.durations[i] = record["durations"][static_cast<std::size_t>(i)].get<double>();
    for (Eigen::Index k = 0; k < size; ++k) {
      learned.products(i, k) = products[static_cast<std::size_t>(i * size + k)].get<double>();
    }
  }
  return learned;
}

}  // namespace

Outcome<KeptTargets> KeptTargets::open() {
  Outcome<RecordStore> store = RecordStore::open("targets", limits, RecordStore::Use::writes);
  if (!store) return store.failure();
  return KeptTargets(std::move(*store));
}

Outcome<std::optional<LearnedRates>> KeptTargets::of(const RegulatedProgram& program) const {
  const Outcome<std::optional<std::string>> text = store_.read(name_of(program));
  if (!text) return text.failure();
  if (!*text) return std::optional<LearnedRates>();
  std::optional<LearnedRates> learned =
      rates_from(ordered_json::parse(**text, nullptr, false), program.metrics.size());
  if (!learned) {
    return Failure{store_.path() + "/" + name_of(program) +
                   " is damaged, or of another version of Halcyon: remove it"};
  }
  return learned;
}

Status KeptTargets::keep(const RegulatedProgram& program, const LearnedRates& learned) const {
  ordered_json durations = ordered_json::array();
  ordered_json products = ordered_json::array();
  for (Eigen::Index i = 0; i < learned.durations.size(); ++i) {
    durations.push_back(learned.durations[i]);
    for (Eigen::Index k = 0; k < learned.durations.size(); ++k) products.push_back(learned.products(i, k));
  }
  const ordered_json record{
      {"kind", "targets"},        {"version", record_version},  {"command", program.command},
      {"ranks", program.ranks},   {"metrics", program.metrics}, {"testpoints", learned.testpoints},
      {"rate", learned.rate}, {"durations", durations},     {"products", products}};
  const Outcome<Descriptor> lock = store_.lock();
  if (!lock) return lock.failure();
  return store_.write(name_of(program), record.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace halcyon::cli
