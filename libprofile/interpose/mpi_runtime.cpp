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
  comm_null = static_cast<MPI_Comm>(handle("ompi_mpi_comm_null"));
  byte = static_cast<MPI_Datatype>(handle("ompi_mpi_byte"));
  uint64 = static_cast<MPI_Datatype>(handle("ompi_mpi_uint64_t"));
  min = static_cast<MPI_Op>(handle("ompi_mpi_op_min"));
  request_empty = static_cast<MPI_Request>(handle("ompi_request_empty"));
  errors_return = static_cast<MPI_Errhandler>(handle("ompi_mpi_errors_return"));
#elif defined(MPICH_VERSION)
  complete = complete && find_mpi_data("ompi_mpi_comm_world") == nullptr;
  comm_world = MPI_COMM_WORLD;
  comm_null = MPI_COMM_NULL;
  byte = MPI_BYTE;
  uint64 = MPI_UINT64_T;
  min = MPI_MIN;
  errors_return = MPI_ERRORS_RETURN;
#else
#error "Halcyon is built for Open MPI and MPICH; another MPI family needs its predefined handles here"
#endif
  return complete;
}

std::string of_another_family(const std::string& tool) {
#ifdef OPEN_MPI
  return "this MPI library is not the Open MPI that " + tool + ".so was built for; for MPICH there is " + tool +
         "-mpich.so";
#else
  return "this MPI library is not the MPICH that " + tool + "-mpich.so was built for; for Open MPI there is " + tool +
         ".so";
#endif
}

}  // namespace halcyon
