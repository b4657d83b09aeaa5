#include "libprofile/interpose/mpi_runtime.hpp"

#include "libprofile/interpose/next.hpp"

namespace halcyon {

MpiRuntime mpi;

bool MpiRuntime::load() noexcept {
  bool complete = true;
#define HALCYON_MPI_LOAD(name)                                         \
  name = reinterpret_cast<decltype(name)>(find_in_mpi("PMPI_" #name)); \
  complete = complete && name != nullptr;
  HALCYON_MPI_FUNCTIONS(HALCYON_MPI_LOAD)
#undef HALCYON_MPI_LOAD

#ifdef OPEN_MPI
  const auto handle = [&complete](const char* name) {
    void* data = find_mpi_data(name);
    complete = complete && data != nullptr;
    return data;
  };
  comm_world = static_cast<MPI_Comm>(handle("ompi_mpi_comm_world"));
  byte = static_cast<MPI_Datatype>(handle("ompi_mpi_byte"));
  uint64 = static_cast<MPI_Datatype>(handle("ompi_mpi_uint64_t"));
  real64 = static_cast<MPI_Datatype>(handle("ompi_mpi_double"));
  sum = static_cast<MPI_Op>(handle("ompi_mpi_op_sum"));
  min = static_cast<MPI_Op>(handle("ompi_mpi_op_min"));
  max = static_cast<MPI_Op>(handle("ompi_mpi_op_max"));
  request_empty = static_cast<MPI_Request>(handle("ompi_request_empty"));
  errors_return = static_cast<MPI_Errhandler>(handle("ompi_mpi_errors_return"));
#else
#error "Halcyon is built for Open MPI; another MPI family needs its predefined handles here"
#endif
  return complete;
}

}  // namespace halcyon
