// One run on both sides.
#include "ops/copy/kernels.cuh"
#include "ops/copy/nvidia/implementations.h"

namespace oprt::copy::OPRT_VENDOR {
namespace {

struct Policy {
  int threads;
  int vectors;  // of a thread
};
// H200, 256 MB and more: 256 threads with one vector each; more vectors a thread cost 3-4% (2026-12). Only sm_90 was measured.
// Loads and stores without cache hints: H200, 256 MB: 128.1 vs 135.0 us with hints of single use (2026-12).
constexpr Policy kPolicy = {.threads = 256, .vectors = 1};

class ContiguousPlan final : public Plan {
 public:
  explicit ContiguousPlan(const Problem& problem)
      : out_offset_(problem.space.offset[0] * static_cast<int64_t>(problem.element_size)),
        in_offset_(problem.space.offset[1] * static_cast<int64_t>(problem.element_size)),
        bytes_(problem.space.size() * static_cast<int64_t>(problem.element_size)),
        num_blocks_(simt::num_blocks(bytes_, int64_t{kPolicy.threads} * kPolicy.vectors * simt::kVectorBytes)) {
    simt::prepare(copy_contiguous<kPolicy.threads, kPolicy.vectors, false>);
    simt::prepare(copy_contiguous<kPolicy.threads, kPolicy.vectors, true>);
  }

  void execute(const Launch& launch) const override {
    if (bytes_ == 0 || launch.out == launch.in[0]) return;
    char* out = static_cast<char*>(launch.out) + out_offset_;
    const char* in = static_cast<const char*>(launch.in[0]) + in_offset_;
    const auto split = simt::split_run<1>(out, {in}, bytes_);
    const auto kernel = split.shifted ? copy_contiguous<kPolicy.threads, kPolicy.vectors, true>
                                      : copy_contiguous<kPolicy.threads, kPolicy.vectors, false>;
    simt::launch(kernel, num_blocks_, kPolicy.threads, 0, launch.stream, out, in, split.head, split.vectors,
                 split.edge_bytes(bytes_), split.shift[0]);
  }

 private:
  int64_t out_offset_;  // bytes
  int64_t in_offset_;
  int64_t bytes_;
  unsigned num_blocks_;
};

}  // namespace

std::unique_ptr<const Plan> make_contiguous(const Problem& problem, const char** reason) {
  const auto& space = problem.space;
  OPRT_REQUIRE(space.size() == 0 || space.ndim == 0 || (space.ndim == 1 && space.strides[0][0] == 1 && space.strides[1][0] == 1),
               "out and in to be one contiguous run");
  return std::make_unique<ContiguousPlan>(problem);
}

}  // namespace oprt::copy::OPRT_VENDOR
