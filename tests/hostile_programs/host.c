// host PLUGIN ARGUMENTS...: opens a plugin in a scope of its own, and runs its main. Knows nothing of MPI.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(int, char**) = NULL;
  if (plugin != NULL) *(void**)&run = dlsym(plugin, "main");
  if (run == NULL) {
    fprintf(stderr, "host: %s\n", dlerror());
    return 1;
  }
  return run(argc - 1, argv + 1);
}
