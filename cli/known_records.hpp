// What is known of works and hosts, as it is kept in the state directory: JSON of which nothing is taken unchecked.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/known/known_work.hpp"
#include "analyzer/machine/probes.hpp"
#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

nlohmann::ordered_json record_of(const KnownWork& work);
nlohmann::ordered_json record_of(const KnownHost& host);

/// A failure says what is wrong, as the end of a sentence about the record.
Outcome<KnownWork> work_from(const nlohmann::ordered_json& record);
Outcome<KnownHost> host_from(const nlohmann::ordered_json& record);

/// As they can be kept: texts of UTF-8 and of a length that a record may have.
Circumstances kept(Circumstances circumstances);
/// In one line, without the groups of the fewest segments where all would be more than `most_bytes`.
std::string text_of(KnownWork work, std::size_t most_bytes);
std::string text_of(const KnownHost& host);

/// The same for any hour and host that shares the state directory: 16 hexadecimal digits.
std::string id_of(const Circumstances& circumstances);
std::string id_of(const KnownHost& host);

}  // namespace halcyon::cli
