// The library's own pool of CPU threads: affinity and cgroup quota, or OPRT_NUM_THREADS, decide its size. Started by the first call
// that uses it, rebuilt after fork, never joined at exit. A call that finds the pool busy runs on its own thread.
#pragma once

#include <cstdint>
#include <type_traits>

namespace oprt {

// Starts the pool where it is not running yet, so that parallel_for neither allocates nor fails. Throws std::bad_alloc.
void start_threads();

// Threads that parallel_for may use, the caller's included.
int num_threads();

// Calls body(context, begin, end) over [0, count) in pieces of `grain` (the last may be shorter), each piece exactly once, on any
// thread, in any order, with the floating-point control of a fresh process (no flush to zero); returns when all are done. Pieces
// depend on count and grain alone, never on the number of threads. `body` must not throw.
void parallel_for(int64_t count, int64_t grain, void (*body)(void* context, int64_t begin, int64_t end), void* context);

template <class Body>
void parallel_for(int64_t count, int64_t grain, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  parallel_for(
      count, grain, [](void* context, int64_t begin, int64_t end) { (*static_cast<Plain*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace oprt
