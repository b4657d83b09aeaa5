// What launchers and batch systems say in the environment of each process. The names of the variables that they set are
// here; cli/launch/ knows those that users set for a launcher.
#pragma once

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>

#include "libprofile/system/environment.hpp"

namespace halcyon::launcher {

/// The value of the first of these variables that has one; null if none has.
inline const char* first_value(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* value = environment_value(name)) return value;
  }
  return nullptr;
}

/// True on rank 0, and if there is no launcher: one rank's message is enough.
inline bool is_spokesman() {
  const char* rank = first_value({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"});
  return rank == nullptr || std::strcmp(rank, "0") == 0;
}

/// True on the first rank of each host.
inline bool is_spokesman_of_host() {
  const char* rank = first_value({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"});
  return rank == nullptr || std::strcmp(rank, "0") == 0;
}

/// The launcher is Open MPI's.
inline bool is_open_mpi() { return std::getenv("OMPI_COMM_WORLD_RANK") != nullptr; }

/// The launcher offers PMI, and not PMIx.
inline bool has_pmi_alone() { return std::getenv("PMI_RANK") != nullptr && std::getenv("PMIX_RANK") == nullptr; }

/// Whether some of `ranks` ranks run on other hosts. False if the launcher does not tell.
inline bool has_other_hosts(int ranks) {
  if (const char* here = first_value({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})) return std::atoi(here) < ranks;
  const char* hosts_of_step = environment_value("SLURM_STEP_NUM_NODES");
  return hosts_of_step != nullptr && std::atoi(hosts_of_step) > 1;
}

/// Number of programs in the job, and how many ranks each has, in the order of ranks. Only Open MPI tells this.
inline const char* programs() { return environment_value("OMPI_NUM_APP_CTX"); }
inline const char* ranks_of_programs() { return environment_value("OMPI_APP_CTX_NUM_PROCS"); }

/// The job of a batch system.
inline const char* batch_job() { return first_value({"SLURM_JOB_ID", "FLUX_JOB_ID", "PBS_JOBID", "LSB_JOBID"}); }
inline const char* batch_step() { return environment_value("SLURM_STEP_ID"); }
inline const char* batch_array_index() { return first_value({"PBS_ARRAY_INDEX", "LSB_JOBINDEX"}); }
inline const char* batch_user() {
  return first_value({"SLURM_JOB_USER", "PBS_O_LOGNAME", "LSFUSER", "USER", "LOGNAME"});
}
inline const char* batch_project() { return first_value({"SLURM_JOB_ACCOUNT", "LSB_PROJECT_NAME"}); }
inline const char* batch_cluster() { return first_value({"SLURM_CLUSTER_NAME", "LSF_CLUSTER_NAME", "PBS_SERVER"}); }
inline const char* batch_partition() { return first_value({"SLURM_JOB_PARTITION", "PBS_QUEUE", "LSB_QUEUE"}); }
inline const char* batch_nodes() { return first_value({"SLURM_JOB_NODELIST", "LSB_HOSTS"}); }

/// The launcher's own name of what it started.
inline const char* launched_job() { return first_value({"PMIX_NAMESPACE", "PMI_JOBID"}); }

/// "NAME=value;" of all that tells this launch apart from others; empty if nothing does.
inline std::string identity() {
  std::string all;
  for (const char* name : {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}) {
    if (const char* value = environment_value(name)) all += std::string(name) + "=" + value + ";";
  }
  return all;
}

}  // namespace halcyon::launcher
