#include "libprofile/life/sessions.hpp"

#include <unistd.h>

#include <atomic>

#include "libprofile/interpose/next.hpp"
#include "libprofile/life/end.hpp"
#include "libprofile/record/recorder.hpp"

namespace halcyon {
namespace {

struct Sessions {
  std::atomic<pid_t> process{0};  // that has opened one
  std::atomic<int> open{0};
  std::atomic<int> everyone{0};            // processes in "mpi://WORLD"; 0 if nothing can be recorded
  std::atomic<bool> has_own_world{false};  // mpi.comm_world is a communicator of the recorder
};
Sessions sessions;

// MPI 3 has no such function, and its mpi.h does not declare it.
int size_of_everyone(MPI_Session session) {
  using GroupFromPset = int (*)(MPI_Session, const char*, MPI_Group*);
  const auto group_from_pset = reinterpret_cast<GroupFromPset>(find_in_mpi("PMPI_Group_from_session_pset"));
  MPI_Group everyone{};
  int size = 0;
  if (group_from_pset == nullptr || group_from_pset(session, "mpi://WORLD", &everyone) != MPI_SUCCESS) return 0;
  mpi.Group_size(everyone, &size);
  mpi.Group_free(&everyone);
  return size;
}

}  // namespace

void session_began(const StartingRun& run, MPI_Session session) noexcept {
  sessions.process.store(getpid());
  sessions.open.fetch_add(1);
  if (!run.session_opened()) return;
  const NotRecorded guard;
  sessions.everyone.store(size_of_everyone(session));
}

void made_without_parent(MPI_Comm comm) noexcept {
  const int everyone = sessions.everyone.load();
  if (everyone == 0 || recorder->gate.has_begun()) return;
  const NotRecorded guard;
  int size = 0;
  if (mpi.Comm_size(comm, &size) != MPI_SUCCESS || size != everyone) return;
  if (sessions.has_own_world.exchange(true)) return;  // another thread is faster
  MPI_Comm own = mpi.comm_null;
  if (mpi.Comm_dup(comm, &own) != MPI_SUCCESS) {
    sessions.has_own_world.store(false);  // MPI's own world must not be freed as ours
    return;
  }
  mpi.comm_world = own;
  mpi.learn_shared_requests(own, size == 1);
  start_within_sessions();
}

void session_ends() noexcept {
  if (sessions.open.fetch_sub(1) != 1 || !sessions.has_own_world.exchange(false)) return;
  end_recording();
  const NotRecorded guard;
  mpi.Comm_free(&mpi.comm_world);
}

const char* why_sessions_have_no_profile() noexcept {
  if (sessions.process.load() != getpid() || recorder == nullptr || recorder->gate.has_begun()) return "";
  return "the program uses MPI sessions, and no communicator of all processes: no profile is written";
}

}  // namespace halcyon
