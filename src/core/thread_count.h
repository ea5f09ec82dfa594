// How many CPU threads this process may use.
#pragma once

namespace oprt {

// OPRT_NUM_THREADS where it is a number from 1 to 256 (any other text is ignored, with a note to stderr under OPRT_VERBOSE); else
// the CPUs of this thread's affinity mask, bounded by the cgroup's CPU quota, rounded up. At least 1, at most 256.
int count_threads();

}  // namespace oprt
