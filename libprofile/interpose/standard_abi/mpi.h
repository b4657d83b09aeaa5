/* The standard ABI of MPI 5.0 (chapter "Application Binary Interface"), as far as Halcyon uses it. All libraries with
 * this interface have these types and values, so that no mpi.h of theirs is needed at hand. tests/function_table holds
 * them against the mpi.h of such a library. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HALCYON_STANDARD_ABI 1

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Datatype* MPI_Datatype;
typedef struct MPI_ABI_Errhandler* MPI_Errhandler;
typedef struct MPI_ABI_File* MPI_File;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Message* MPI_Message;
typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Session* MPI_Session;
typedef struct MPI_ABI_Win* MPI_Win;

typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;

#define MPI_MIN ((MPI_Op)0x22)
#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_SESSION_NULL ((MPI_Session)0x120)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_UINT64_T ((MPI_Datatype)0x259)

#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)

#define MPI_MAX_LIBRARY_VERSION_STRING 8192

enum {
  MPI_SUCCESS = 0,
  MPI_ERR_IN_STATUS = 19,
  MPI_ANY_SOURCE = -1,
  MPI_PROC_NULL = -3,
  MPI_ROOT = -4,
  MPI_UNDEFINED = -32766,
  MPI_THREAD_SINGLE = 0,
  MPI_THREAD_MULTIPLE = 4096,
  MPI_CART = 211,
  MPI_GRAPH = 212,
  MPI_DIST_GRAPH = 213,
  MPI_MAX_PROCESSOR_NAME = 256
};

#include "mpi_prototypes.h" /* made of mpi.table */

/* Functions that Halcyon calls and does not wrap */
int PMPI_Abi_get_version(int* abi_major, int* abi_minor);
int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest);
int PMPI_Cartdim_get(MPI_Comm comm, int* ndims);
int PMPI_Comm_get_parent(MPI_Comm* parent);
int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group);
int PMPI_Comm_rank(MPI_Comm comm, int* rank);
int PMPI_Comm_remote_size(MPI_Comm comm, int* size);
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler);
int PMPI_Comm_size(MPI_Comm comm, int* size);
int PMPI_Comm_test_inter(MPI_Comm comm, int* flag);
int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted);
int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
int PMPI_Get_library_version(char* version, int* resultlen);
int PMPI_Get_processor_name(char* name, int* resultlen);
int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors);
int PMPI_Group_free(MPI_Group* group);
int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup);
int PMPI_Group_size(MPI_Group group, int* size);
int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]);
int PMPI_Initialized(int* flag);
int PMPI_Query_thread(int* provided);
int PMPI_Test_cancelled(const MPI_Status* status, int* flag);
int PMPI_Topo_test(MPI_Comm comm, int* status);
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size);

#ifdef __cplusplus
}
#endif
