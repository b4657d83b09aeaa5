#include "ledger/connection.hpp"

#include <fmt/format.h>
#include <sys/vfs.h>

#include <filesystem>
#include <map>

namespace halcyon::ledger {

std::string objection_to_file_system(std::uint64_t type) {
  // As statfs(2) names them. What several hosts can write to, SQLite cannot lock for them.
  static const std::map<std::uint64_t, const char*> shared{
      {0x6969, "NFS"},        {0x517b, "SMB"},      {0xff534d42, "CIFS"},   {0xfe534d42, "SMB"},
      {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"}, {0x19830326, "BeeGFS"}, {0x00c36400, "Ceph"},
      {0x01021997, "9P"},     {0x5346414f, "AFS"},  {0xaad7aaea, "PanFS"},  {0x20030528, "OrangeFS"}};
  const auto found = shared.find(type);
  if (found == shared.end()) return {};
  return fmt::format(
      "it would be on {}, where SQLite cannot lock it: put the database on a disk of this host (a spool may "
      "be there), or use postgresql://",
      found->second);
}

Outcome<std::unique_ptr<Connection>> connect(const std::string& database, Use use) {
  for (const std::string_view scheme : {"postgresql://", "postgres://"}) {
    if (database.starts_with(scheme)) return connect_to_postgresql(database, use);
  }
  constexpr std::string_view parquet = "parquet:";
  if (database.starts_with(parquet)) return connect_to_parquet(database.substr(parquet.size()), use);
  constexpr std::string_view sqlite = "sqlite:";
  const std::string file = database.starts_with(sqlite) ? database.substr(sqlite.size()) : database;
  const std::string directory = std::filesystem::path(file).parent_path();
  struct statfs system {};
  if (statfs(directory.empty() ? "." : directory.c_str(), &system) == 0) {
    const std::string objection = objection_to_file_system(static_cast<std::uint32_t>(system.f_type));
    if (!objection.empty()) return Failure{file + ": " + objection};
  }
  return connect_to_sqlite(file, use);
}

}  // namespace halcyon::ledger
