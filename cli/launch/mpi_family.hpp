// Which MPI library the ranks use, and the preloaded libraries that fit it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libprofile/format/outcome.hpp"

namespace halcyon::cli {

/// Each family has a recorder and an injector of its own.
enum class MpiFamily : std::uint8_t { open_mpi, mpich };
/// By the libraries that the program is linked with; nothing for a script, or if the program is not found.
std::optional<MpiFamily> family_of_program(const std::string& program);
/// For a rank: this process, which is about to become the program.
MpiFamily family_of_rank(const std::string& program);

/// The recorder, and the injector behind it if calls are to be delayed.
Outcome<std::string> preload_list(MpiFamily family, bool injects);
/// LD_PRELOAD of this process.
std::string outer_preload();
/// `ours:theirs`, or ours alone.
std::string joined_preload(const std::string& ours, const std::string& theirs);

}  // namespace halcyon::cli
