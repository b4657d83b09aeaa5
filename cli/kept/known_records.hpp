// Records of works and hosts as JSON for the state directory. Reading checks every member.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/known/known_work.hpp"
#include "analyzer/machine/probes.hpp"
#include "libprofile/system/outcome.hpp"

namespace halcyon::cli {

nlohmann::ordered_json record_of(const KnownWork& work);
nlohmann::ordered_json record_of(const KnownHost& host);

/// A failure says what is wrong with the record, in words that complete a sentence about it.
Outcome<KnownWork> work_from(const nlohmann::ordered_json& record);
Outcome<KnownHost> host_from(const nlohmann::ordered_json& record);

/// The circumstances as a record can hold them: UTF-8 texts, cut to the permitted length.
Circumstances kept(Circumstances circumstances);
/// The record in one line. If it would exceed `most_bytes`, the groups with the fewest segments are left out.
std::string text_of(KnownWork work, std::size_t most_bytes);
std::string text_of(const KnownHost& host);

/// 16 hexadecimal digits, the same at any time and on any host.
std::string id_of(const Circumstances& circumstances);
std::string id_of(const KnownHost& host);

}  // namespace halcyon::cli
