// Runs a kernel of a library that arrives by dlopen, as Python loads one: from the main thread and from a thread that was there
// before the library. Usage: dlopen_main <library>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

typedef int (*run_function)(void);

static pthread_barrier_t loaded;
static run_function run;

static void* run_later(void* result) {
  pthread_barrier_wait(&loaded);
  *(int*)result = run();
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  pthread_t thread;
  int late = 3;
  pthread_barrier_init(&loaded, NULL, 2);
  if (pthread_create(&thread, NULL, run_later, &late) != 0) return 65;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 66;
  }
  *(void**)&run = dlsym(library, "run_loaded_kernel");
  if (run == NULL) return 67;
  const int early = run();
  pthread_barrier_wait(&loaded);
  pthread_join(thread, NULL);
  if (early != 0 || late != 0) fprintf(stderr, "main thread: %d, older thread: %d, expected 0 and 0\n", early, late);
  return early != 0 || late != 0;
}
