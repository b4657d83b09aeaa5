#include "libprofile/format/send_profile.hpp"

#include <type_traits>

#include "libprofile/format/schema.hpp"

namespace halcyon {
namespace {

// Sends an attribute or a column according to its type.
class ToSink {
 public:
  explicit ToSink(Sink& sink) : sink_(sink) {}

  void operator()(const Attribute& attribute, const std::string& value) const {
    if (!value.empty() || !attribute.optional) sink_.attribute(attribute.name, std::string_view(value));
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void operator()(const Attribute& attribute, Number value) const {
    if constexpr (std::is_integral_v<Number>) {
      sink_.attribute(attribute.name, static_cast<std::int64_t>(value));
    } else {
      sink_.attribute(attribute.name, value);
    }
  }
  template <class T>
  void operator()(const Column& column, const std::vector<T>& values) const {
    if (!values.empty()) sink_.column(column.name, element_type_of<T>(), values.data(), values.size() * sizeof(T));
  }
  void operator()(const Column& column, const std::vector<std::string>& values) const {
    std::string joined;
    for (const std::string& value : values) joined += value + '\0';
    if (!values.empty()) sink_.column(column.name, ElementType::text, joined.data(), joined.size());
  }

 private:
  Sink& sink_;
};

void send_suspension(const Profile& profile, Sink& sink) {
  if (profile.suspension) for_each_attribute_of_suspension(*profile.suspension, ToSink(sink));
}

void send_known_runs(const Profile& profile, Sink& sink) {
  if (!profile.known_runs) return;
  for_each_attribute_of_known_runs(*profile.known_runs, ToSink(sink));
  if (profile.known_runs->of_parts) for_each_attribute_of_known_parts(*profile.known_runs->of_parts, ToSink(sink));
}

void send_witnessed(const Witnessed& witnessed, Sink& sink) {
  if (!witnessed.by.empty()) for_each_attribute_of_witness(witnessed, ToSink(sink));
  for_each_column_of_witness(witnessed, ToSink(sink));
}

}  // namespace

void send_run(const Profile& profile, Sink& sink) {
  for_each_attribute(profile, ToSink(sink));
  send_suspension(profile, sink);
  send_known_runs(profile, sink);
  for_each_rank_column(profile, ToSink(sink));
  for_each_section_column(profile.sections, ToSink(sink));
  send_witnessed(profile.witnessed, sink);
  for_each_table(profile, ToSink(sink));
}

std::vector<ColumnBytes> segment_columns(const Profile& profile) {
  std::vector<ColumnBytes> columns;
  for_each_segment_column(profile, [&columns](const Column& column, const auto& values) {
    if (values.empty()) return;
    columns.push_back({column.name, element_type_of_values(values), reinterpret_cast<const std::byte*>(values.data())});
  });
  return columns;
}

void send_what_came_later(const Profile& profile, Sink& sink) {
  send_known_runs(profile, sink);
  send_witnessed(profile.witnessed, sink);
  for_each_known_probe_column(profile, ToSink(sink));
}

void send_profile(const Profile& profile, Sink& sink) {
  send_run(profile, sink);
  for (const ColumnBytes& column : segment_columns(profile)) {
    sink.column(column.name, column.type, column.data, profile.segments * size_of(column.type));
  }
}

}  // namespace halcyon
