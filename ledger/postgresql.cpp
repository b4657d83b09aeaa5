// A database of PostgreSQL. Its library is opened when one is asked for: everything else runs without it.
#include <dlfcn.h>
#include <fmt/format.h>
#include <libpq-fe.h>

#include <charconv>
#include <map>

#include "ledger/connection.hpp"

namespace halcyon::ledger {
namespace {

constexpr const char* name_of_library = "libpq.so.5";

/// The functions of libpq, without the PQ of their names.
struct Libpq {
  void* library = dlopen(name_of_library, RTLD_NOW | RTLD_LOCAL);
  bool is_whole = library != nullptr;

#define HALCYON_LIBPQ(NAME) decltype(&::PQ##NAME) NAME = find<decltype(&::PQ##NAME)>("PQ" #NAME)
  HALCYON_LIBPQ(connectdbParams);
  HALCYON_LIBPQ(status);
  HALCYON_LIBPQ(errorMessage);
  HALCYON_LIBPQ(setNoticeProcessor);
  HALCYON_LIBPQ(host);
  HALCYON_LIBPQ(db);
  HALCYON_LIBPQ(finish);
  HALCYON_LIBPQ(prepare);
  HALCYON_LIBPQ(execPrepared);
  HALCYON_LIBPQ(resultStatus);
  HALCYON_LIBPQ(nfields);
  HALCYON_LIBPQ(ntuples);
  HALCYON_LIBPQ(ftype);
  HALCYON_LIBPQ(getisnull);
  HALCYON_LIBPQ(getvalue);
  HALCYON_LIBPQ(getlength);
  HALCYON_LIBPQ(clear);
#undef HALCYON_LIBPQ

 private:
  template <class Function>
  Function find(const char* name) {
    void* found = library == nullptr ? nullptr : dlsym(library, name);
    is_whole = is_whole && found != nullptr;
    return reinterpret_cast<Function>(found);
  }
};
const Libpq& pq() {
  static const Libpq libpq;
  return libpq;
}

struct CloseConnection {
  void operator()(PGconn* connection) const { pq().finish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { pq().clear(result); }
};
using Server = std::unique_ptr<PGconn, CloseConnection>;
using Result = std::unique_ptr<PGresult, ClearResult>;

// Types, as the server's catalogue numbers them.
enum Type : Oid {
  type_int8 = 20,
  type_int2 = 21,
  type_int4 = 23,
  type_float4 = 700,
  type_float8 = 701,
  type_numeric = 1700
};

Value value_at(const PGresult* result, int row, int column) {
  if (pq().getisnull(result, row, column) != 0) return {};
  const std::string_view text(pq().getvalue(result, row, column),
                              static_cast<std::size_t>(pq().getlength(result, row, column)));
  const auto number = [&text](auto value) -> Value {
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  };
  switch (pq().ftype(result, column)) {
    case type_int2:
    case type_int4:
    case type_int8: return number(std::int64_t{0});
    case type_float4:
    case type_float8:
    case type_numeric: return number(0.0);
    default: return std::string(text);
  }
}

std::string one_line(const char* message) {
  std::string text = message;
  while (text.ends_with('\n')) text.pop_back();
  for (char& c : text) c = c == '\n' ? ' ' : c;
  return text;
}

class Postgresql final : public Connection {
 public:
  explicit Postgresql(Server server) : server_(std::move(server)) {}

  Status run(const std::string& sql, Values values, const std::function<void(const Row&)>& visit) override {
    std::string& name = prepared_[sql];
    if (name.empty()) {
      const std::string fresh = fmt::format("s{}", prepared_.size());
      const Result made(pq().prepare(server_.get(), fresh.c_str(), sql.c_str(), 0, nullptr));
      if (pq().resultStatus(made.get()) != PGRES_COMMAND_OK) return failure();
      name = fresh;
    }
    // All as texts: the server knows the types.
    texts_.clear();
    for (const Value& value : values) {
      std::string text;
      if (const auto* whole = std::get_if<std::int64_t>(&value)) text = std::to_string(*whole);
      if (const auto* number = std::get_if<double>(&value)) text = fmt::format("{}", *number);
      texts_.push_back(std::move(text));
    }
    pointers_.clear();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto* text = std::get_if<std::string>(&values[i]);
      const bool is_null = std::holds_alternative<std::monostate>(values[i]);
      pointers_.push_back(is_null ? nullptr : text != nullptr ? text->c_str() : texts_[i].c_str());
    }
    const Result result(pq().execPrepared(server_.get(), name.c_str(), static_cast<int>(values.size()),
                                          pointers_.data(), nullptr, nullptr, 0));
    const ExecStatusType status = pq().resultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return failure();
    Row row(static_cast<std::size_t>(pq().nfields(result.get())));
    for (int i = 0; i < pq().ntuples(result.get()); ++i) {
      for (std::size_t column = 0; column < row.size(); ++column) {
        row[column] = value_at(result.get(), i, static_cast<int>(column));
      }
      visit(row);
    }
    return Done{};
  }

  Status begin() override {
    if (const Status begun = Connection::run("BEGIN"); !begun) return begun;
    // Any number will do that other programs on this server do not take.
    const Value lock = std::int64_t{0x68616c63796f6e};
    const Status locked = Connection::run("SELECT pg_advisory_xact_lock($1)", {&lock, 1});
    if (!locked) Connection::run("ROLLBACK");
    return locked;
  }

  Outcome<bool> has_table(const std::string& name) override {
    bool has = false;
    const Value named = name;
    const Status looked = run("SELECT to_regclass($1) IS NOT NULL", {&named, 1},
                              [&](const Row& row) { has = row.front() == Value(std::string("t")); });
    if (!looked) return looked.failure();
    return has;
  }

  const Dialect& dialect() const override {
    static const Dialect of_postgresql{.whole = "BIGINT",
                                       .number = "DOUBLE PRECISION",
                                       .of_runs = " PARTITION BY RANGE (run)",
                                       .of_parts = " PARTITION BY RANGE (run)",
                                       .has_partitions = true,
                                       .has_roles = true,
                                       .most_values = 65535,
                                       .after_slimming = ""};
    return of_postgresql;
  }

 private:
  Failure failure() const {
    return {fmt::format("PostgreSQL on {}, database {}: {}", or_here(pq().host(server_.get())),
                        or_here(pq().db(server_.get())), one_line(pq().errorMessage(server_.get())))};
  }
  static std::string or_here(const char* name) { return name == nullptr || *name == '\0' ? "this host" : name; }

  Server server_;
  std::map<std::string, std::string> prepared_;  // names of the statements
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
};

}  // namespace

Outcome<std::unique_ptr<Connection>> connect_to_postgresql(const std::string& address, Use use) {
  if (!pq().is_whole) {
    return Failure{
        fmt::format("{} cannot be loaded: --database postgresql:// needs it (Debian: libpq5)", name_of_library)};
  }
  const char* keywords[] = {"dbname", "fallback_application_name", "options", nullptr};
  const char* only_reads = use == Use::reads ? "-c default_transaction_read_only=on" : nullptr;
  const char* values[] = {address.c_str(), "halcyon", only_reads, nullptr};
  Server server(pq().connectdbParams(keywords, values, 1));
  if (pq().status(server.get()) != CONNECTION_OK) {
    return Failure{one_line(pq().errorMessage(server.get())) +
                   ": see the connection URIs of PostgreSQL (a password belongs "
                   "into ~/.pgpass)"};
  }
  pq().setNoticeProcessor(
      server.get(), [](void*, const char*) {}, nullptr);
  return {std::make_unique<Postgresql>(std::move(server))};
}

}  // namespace halcyon::ledger
