// deep WHO: a program whose calls of MPI bypass what is preloaded, since it opens a plugin with RTLD_DEEPBIND.
//   exchanges: the plugin has the messages and collectives
//   partly: the same, after a barrier of the program
//   closed: the same, and the plugin is closed before MPI_Finalize
//   finalizes: the plugin also calls MPI_Finalize
//   all: the plugin calls MPI_Init, too
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int fails(const char* why) {
  fprintf(stderr, "%s\n", why);
  return 1;
}

int main(int argc, char** argv) {
  const char* who = argc > 2 ? argv[2] : "";
  if (strcmp(who, "all") != 0) MPI_Init(&argc, &argv);
  if (strcmp(who, "partly") == 0) MPI_Barrier(MPI_COMM_WORLD);
  void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
  if (plugin == NULL) return fails(dlerror());
  ((void (*)(const char*))dlsym(plugin, "work"))(who);
  if (strcmp(who, "closed") == 0) dlclose(plugin);
  if (strcmp(who, "all") != 0 && strcmp(who, "finalizes") != 0) MPI_Finalize();
  return 0;
}
