/* An MPI library that does nothing, under the name and with the version of one whose handles Halcyon does not know.
 * FAKE_VERSION: what MPI_Get_library_version says. FAKE_OPEN_MPI: it has the symbols of Open MPI. FAKE_ABI: the version
 * of the standard ABI. */
#include <string.h>

#define BOTH(name, ...)                    \
  int PMPI_##name(__VA_ARGS__);            \
  int MPI_##name(__VA_ARGS__) __attribute__((alias("PMPI_" #name)));
#define STUB(name) \
  int PMPI_##name(void) { return 0; }

BOTH(Init, int* argc, char*** argv)
BOTH(Finalize, void)
int PMPI_Init(int* argc, char*** argv) { return argc == 0 && argv == 0 ? 1 : 0; }
int PMPI_Finalize(void) { return 0; }

int PMPI_Get_library_version(char* version, int* length) {
  strcpy(version, FAKE_VERSION);
  *length = (int)strlen(version);
  return 0;
}
int PMPI_Abi_get_version(int* major, int* minor) {
  *major = FAKE_ABI;
  *minor = 0;
  return 0;
}
int PMPI_Initialized(int* flag) { return *flag = 0; }

STUB(Allreduce) STUB(Alltoall) STUB(Bcast) STUB(Cart_shift) STUB(Cartdim_get) STUB(Comm_dup) STUB(Comm_free)
STUB(Comm_get_parent) STUB(Comm_group) STUB(Comm_rank) STUB(Comm_remote_size) STUB(Comm_set_errhandler) STUB(Comm_size)
STUB(Comm_split) STUB(Comm_test_inter) STUB(Dist_graph_neighbors_count) STUB(Gather) STUB(Get_count_c)
STUB(Get_processor_name) STUB(Graph_neighbors_count) STUB(Group_free) STUB(Group_intersection) STUB(Group_size)
STUB(Group_translate_ranks) STUB(Ibarrier) STUB(Info_create) STUB(Info_dup) STUB(Info_free) STUB(Info_get)
STUB(Info_set) STUB(Irecv) STUB(Query_thread) STUB(Recv) STUB(Send) STUB(Test_cancelled) STUB(Topo_test) STUB(Type_size_x) STUB(Wait)

#ifdef FAKE_OPEN_MPI
int ompi_mpi_comm_world, ompi_mpi_comm_null, ompi_mpi_byte, ompi_mpi_uint64_t, ompi_mpi_op_min, ompi_mpi_errors_return,
    ompi_mpi_info_null, ompi_request_empty;
#endif
