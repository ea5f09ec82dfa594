// The emulator's settings, the memory that kernels may touch, and what they did wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "simt/host_runtime.h"

namespace oprt::emulator {

// In which order the threads of a block start, and go on after a barrier.
enum class Order { kForward, kReverse, kShuffle };

// Where nothing is set, OPRT_EMULATOR_ORDER (forward, reverse or shuffle:SEED), OPRT_EMULATOR_WORKERS and OPRT_EMULATOR_TIMEOUT
// (seconds) say. Other words there are INVALID_ARGUMENT at the first launch.
struct Options {
  Order order = Order::kForward;
  uint64_t seed = 0;
  int workers = 0;        // threads of the host that run blocks; 0 is one for each processor
  double timeout_s = 30;  // processor time after which a block that has not ended is reported as hung
};
Options options();
void set_options(const Options& options);

enum class Kind {
  kOutOfBounds,
  kMisaligned,
  kArrayBounds,
  kReadOnlyWrite,
  kUninitialisedRead,
  kRace,
  kDivergentBarrier,
  kDeadlock,
  kWrongMask,
  kHang,
};
const char* kind_name(Kind kind);

// One side of a fault. `file` is "" where the kernel was compiled without debug information.
struct Place {
  uint3 block = {};
  uint3 thread = {};
  std::string access;  // "read", "write" or "atomic"; "" where the fault is no access
  std::string file;
  int line = 0;
  std::vector<std::string> callers;  // "file:line", innermost first: into what the line was inlined
};

struct Report {
  Kind kind;
  std::string kernel;
  std::string text;  // one line, and one more for each group of threads where that matters
  Place at;
  std::vector<Place> other;  // a race's earlier access
};

// Of all launches since the last call, oldest first.
std::vector<Report> take_reports();

// For people: the text, and each place with its line of source where the file is there.
std::string to_text(const Report& report);
// An array of objects with Report's fields, and to_text() as "readable".
std::string to_json(const std::vector<Report>& reports);

// While it lives, launches from this thread of the host may touch what was added to it, and nothing else in global memory. Only a
// checked build looks. Buffers may overlap: a byte may be written where one of them says so.
class BufferScope {
 public:
  BufferScope();
  ~BufferScope();
  BufferScope(const BufferScope&) = delete;
  BufferScope& operator=(const BufferScope&) = delete;
};

// Adds to this thread's innermost scope. `name` is what reports call it.
void register_buffer(const char* name, const void* pointer, size_t bytes, bool read_only, bool initialised);

}  // namespace oprt::emulator
