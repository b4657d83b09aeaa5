#include "libprofile/record/infos_for_children.hpp"

#include <exception>
#include <string>

#include "libprofile/record/settings.hpp"
#include "libprofile/record/this_run.hpp"

namespace halcyon {

#ifdef OPEN_MPI
namespace {

constexpr char variables_key[] = "PMIX_ENVAR";

bool add_variables(MPI_Info info) {
  char theirs[MPI_MAX_INFO_VAL + 1] = {};
  int is_set = 0;
  mpi.Info_get(info, variables_key, MPI_MAX_INFO_VAL, theirs, &is_set);
  const std::string all = variables_of_children(is_set != 0 ? theirs : "", MPI_MAX_INFO_VAL - 1);
  return !all.empty() && mpi.Info_set(info, variables_key, all.c_str()) == MPI_SUCCESS;
}

}  // namespace

InfosForChildren::InfosForChildren(int count, const MPI_Info* given) noexcept : given_(given) {
  if (!ThisRun::spawns_without_variables()) return;
  try {
    copies_.resize(static_cast<std::size_t>(count), mpi.info_null);
    for (std::size_t i = 0; i < copies_.size(); ++i) {
      const int error = given[i] == mpi.info_null ? mpi.Info_create(&copies_[i]) : mpi.Info_dup(given[i], &copies_[i]);
      are_recorded_ = error == MPI_SUCCESS && add_variables(copies_[i]) && are_recorded_;
    }
  } catch (const std::exception&) {  // no memory is left
    are_recorded_ = false;
  }
}

InfosForChildren::~InfosForChildren() {
  for (MPI_Info& copy : copies_) {
    if (copy != mpi.info_null) mpi.Info_free(&copy);
  }
}
#else
InfosForChildren::InfosForChildren(int, const MPI_Info* given) noexcept : given_(given) {}

InfosForChildren::~InfosForChildren() = default;
#endif

}  // namespace halcyon
