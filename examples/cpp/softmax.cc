// Softmax and a prepared sum from C++17.
#include <cstdio>
#include <vector>

// [include]
#include "operator_runtime/cpp/operator_runtime.hpp"
namespace rt = operator_runtime;
// [/include]

int main() try {
  // [softmax]
  const std::vector<float> x = {1, 2, 3, 0, 0, 0};
  std::vector<float> y(6), sums(2);
  const auto y_view = rt::contiguous(y.data(), {2, 3});
  rt::softmax(y_view, rt::contiguous(x.data(), {2, 3}), -1);

  // Checked once, executed any number of times, from any number of threads.
  const rt::Prepared<rt::ReduceSum> sum_rows(OPRT_BACKEND_AUTO, rt::contiguous(sums.data(), {2}), y_view, std::vector<int32_t>{1},
                                             false);
  const rt::Workspace workspace(sum_rows.workspace_size());
  sum_rows.execute({workspace.data(), workspace.size()}, sums.data(), y.data());
  // [/softmax]

  std::printf("rows sum to %.6f and %.6f\n", sums[0], sums[1]);
  return sums[0] > 0.999999f && sums[0] < 1.000001f && sums[1] > 0.999999f && sums[1] < 1.000001f ? 0 : 1;
} catch (const rt::Error& error) {
  std::fprintf(stderr, "%s: %s\n", oprt_status_name(error.status()), error.what());
  return 1;
}
