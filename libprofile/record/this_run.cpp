#include "libprofile/record/this_run.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "libprofile/record/gathering.hpp"
#include "libprofile/record/intm_interface.hpp"
#include "libprofile/system/launcher.hpp"

namespace halcyon {
namespace {

std::string utc(std::timespec time) {
  std::tm parts{};
  gmtime_r(&time.tv_sec, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  mpi.Get_library_version(text, &length);
  // Open MPI names its package behind a comma, and MPICH has a line for each option of its build.
  std::string version(text, static_cast<std::size_t>(std::max(length, 0)));
  version = version.substr(0, version.find_first_of(",\n"));
  version.erase(std::unique(version.begin(), version.end(),
                            [](char a, char b) { return std::isspace(a) != 0 && std::isspace(b) != 0; }),
                version.end());
  std::replace(version.begin(), version.end(), '\t', ' ');
  return version;
}

}  // namespace

bool ThisRun::find_place_in_world() {
  mpi.Comm_rank(mpi.comm_world, &rank);
  mpi.Comm_size(mpi.comm_world, &ranks);
  int thread_level = MPI_THREAD_SINGLE;
  mpi.Query_thread(&thread_level);
  several_threads = thread_level == MPI_THREAD_MULTIPLE;
  MPI_Comm parent = mpi.comm_null;
  mpi.Comm_get_parent(&parent);
  several_worlds.store(parent != mpi.comm_null);
  return parent != mpi.comm_null;
}

void ThisRun::find_place_within_sessions() {
  mpi.Comm_rank(mpi.comm_world, &rank);
  mpi.Comm_size(mpi.comm_world, &ranks);
  several_threads = true;  // each session may have a thread level of its own
}

bool ThisRun::join_others() {
  if (ranks == 1) return true;
  // The program, which has not yet got its world, has no attributes there whose copy functions would be called.
  if (mpi.Comm_dup(mpi.comm_world, &recorders_comm) != MPI_SUCCESS) return false;
  mpi.Comm_set_errhandler(recorders_comm, mpi.errors_return);
  return true;
}

void ThisRun::leave_others() {
  if (recorders_comm == MPI_Comm{}) return;
  mpi.Comm_free(&recorders_comm);
  recorders_comm = MPI_Comm{};
}

int ThisRun::process_of(int rank_in_comm, MPI_Comm comm) const {
  if (comm == mpi.comm_world) return rank_in_comm;
  MPI_Group world{};
  MPI_Group of_comm{};
  int in_world = Gathering::nowhere;
  mpi.Comm_group(mpi.comm_world, &world);
  mpi.Comm_group(comm, &of_comm);
  mpi.Group_translate_ranks(of_comm, 1, &rank_in_comm, world, &in_world);
  mpi.Group_free(&world);
  mpi.Group_free(&of_comm);
  return in_world >= 0 ? in_world : Gathering::nowhere;  // MPI_UNDEFINED is negative
}

bool ThisRun::spawns_without_variables() {
  constexpr std::string_view name = "Open MPI v";
  const std::string version = mpi_version();
  return version.compare(0, name.size(), name) == 0 && std::atoi(version.c_str() + name.size()) >= 5;
}

int ThisRun::members_of_this_world(MPI_Comm comm) const {
  MPI_Group world{};
  MPI_Group all{};
  MPI_Group common{};
  int members = 0;
  mpi.Comm_group(mpi.comm_world, &world);
  mpi.Comm_group(comm, &all);
  mpi.Group_intersection(world, all, &common);
  mpi.Group_size(common, &members);
  for (MPI_Group* group : {&world, &all, &common}) {
    mpi.Group_free(group);
  }
  return members;
}

RunFacts ThisRun::facts(const Counter& counter) const {
  const auto text_of = [](const char* value) { return std::string(value != nullptr ? value : ""); };
  const auto name = [&](const char* value) { return settings.names ? text_of(value) : std::string(); };
  const char* const step = launcher::batch_step();
  return {.recorder_version = HALCYON_VERSION,
          .command = settings.command,
          .mpi = mpi_version(),
          .counter = counter.name(),
          .compute_units = counter.kind() == Counter::Kind::cpu ? "ns" : "1",
          .start_time = utc(start_time),
          .start_nanoseconds = std::int64_t{1'000'000'000} * start_time.tv_sec + start_time.tv_nsec,
          .inject = spec_of_intm(),
          .boundary = std::string(name_of(settings.boundary)),
          .label = settings.label,
          .note = settings.note,
          .job = text_of(launcher::batch_job()),
          .job_step = text_of(step != nullptr ? step : launcher::batch_array_index()),
          .user = name(launcher::batch_user()),
          .project = name(launcher::batch_project()),
          .cluster = name(launcher::batch_cluster()),
          .partition = name(launcher::batch_partition()),
          .node_list = name(launcher::batch_nodes())};
}

}  // namespace halcyon
