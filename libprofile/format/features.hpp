// The features of a segment: one list with names, order and meaning, for the recorder, the file and the analyzer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libprofile/system/in_order.hpp"

namespace halcyon {

enum class Feature : std::uint8_t {
  compute,
  sends_blocking,
  sends_nonblocking,
  receives_blocking,
  receives_nonblocking,
  collectives_one_to_all,
  collectives_all_to_one,
  collectives_all_to_all,
  rma_operations,
  file_opens,
  file_closes,
  reads,
  writes,
  bytes_sent,
  bytes_received,
  bytes_collective,
  rma_bytes,
  bytes_read,
  bytes_written,
  device_launches,
  device_items,
  device_bytes,
};

/// How a feature is compared: work and volumes by relative distance, counts exactly.
enum class FeatureKind : std::uint8_t { work, count, volume };

struct FeatureInfo {
  Feature feature;
  FeatureKind kind;
  std::string_view name;
  std::string_view units;
  std::string_view description;
  int since = 1;  // schema version; older profiles lack its columns
};

inline constexpr std::array<FeatureInfo, 22> features{{
    {Feature::compute, FeatureKind::work, "compute", "1",
     "work outside calls of MPI, files and devices, in units of the counter"},
    {Feature::sends_blocking, FeatureKind::count, "sends_blocking", "1", "blocking sends"},
    {Feature::sends_nonblocking, FeatureKind::count, "sends_nonblocking", "1",
     "non-blocking and started persistent sends"},
    {Feature::receives_blocking, FeatureKind::count, "receives_blocking", "1", "blocking receives"},
    {Feature::receives_nonblocking, FeatureKind::count, "receives_nonblocking", "1",
     "non-blocking and started persistent receives"},
    {Feature::collectives_one_to_all, FeatureKind::count, "collectives_one_to_all", "1", "collectives from one to all"},
    {Feature::collectives_all_to_one, FeatureKind::count, "collectives_all_to_one", "1", "collectives from all to one"},
    {Feature::collectives_all_to_all, FeatureKind::count, "collectives_all_to_all", "1",
     "collectives from all to all, scans and neighbourhood collectives"},
    {Feature::rma_operations, FeatureKind::count, "rma_operations", "1", "one-sided operations"},
    {Feature::file_opens, FeatureKind::count, "file_opens", "1", "files opened, MPI-IO and POSIX"},
    {Feature::file_closes, FeatureKind::count, "file_closes", "1", "files closed, MPI-IO and POSIX"},
    {Feature::reads, FeatureKind::count, "reads", "1", "file reads, MPI-IO and POSIX"},
    {Feature::writes, FeatureKind::count, "writes", "1", "file writes, MPI-IO and POSIX"},
    {Feature::bytes_sent, FeatureKind::volume, "bytes_sent", "B", "bytes in point-to-point sends"},
    {Feature::bytes_received, FeatureKind::volume, "bytes_received", "B", "bytes in completed point-to-point receives"},
    {Feature::bytes_collective, FeatureKind::volume, "bytes_collective", "B", "bytes that ranks handed to collectives"},
    {Feature::rma_bytes, FeatureKind::volume, "rma_bytes", "B", "bytes in one-sided operations"},
    {Feature::bytes_read, FeatureKind::volume, "bytes_read", "B", "bytes read from files"},
    {Feature::bytes_written, FeatureKind::volume, "bytes_written", "B", "bytes written to files"},
    {Feature::device_launches, FeatureKind::count, "device_launches", "1",
     "kernels and graphs given to devices (OpenCL, CUDA, HIP)", 8},
    {Feature::device_items, FeatureKind::volume, "device_items", "1", "work items of these kernels", 8},
    {Feature::device_bytes, FeatureKind::volume, "device_bytes", "B", "bytes moved to, from and within devices", 8},
}};
static_assert(in_order(features, &FeatureInfo::feature));

inline constexpr std::size_t feature_count = features.size();

constexpr std::size_t index_of(Feature feature) { return static_cast<std::size_t>(feature); }

}  // namespace halcyon
