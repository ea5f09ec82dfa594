#include "ops/softmax/softmax.h"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/planted/planted.h"

namespace oprt::softmax {
namespace {

using namespace planted_faults;

template <class Value>
Value maximum(const std::vector<Value>& row) {
  if (planted("skips_the_maximum")) return 0;
  Value largest = planted("starts_the_maximum_at_zero") ? Value(0) : -std::numeric_limits<Value>::infinity();
  for (const Value value : row) {
    if (value > largest || (std::isnan(value) && !planted("drops_nan"))) largest = value;
    if (std::isnan(largest)) break;
  }
  return largest;
}

template <class T, class Value>
Value total(const std::vector<Value>& exponentials) {
  const bool narrow = planted("accumulates_in_16_bits");
  long double exact = 0;
  Value value = 0;
  for (const Value term : exponentials) {
    if (planted("drops_nan") && std::isnan(term)) continue;
    exact += static_cast<long double>(term);
    value += term;
    if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) value = to_float(from_float<T>(value));
  }
  return narrow ? value : static_cast<Value>(exact);
}

template <class T>
void run_row(const Problem& problem, const Launch& launch, int64_t out_start, int64_t in_start) {
  using Value = decltype(load<T>(launch.out, 0));
  const int64_t read = problem.n + (planted("reads_one_too_many") && problem.n % 4 == 1 ? 1 : 0);
  std::vector<Value> row;
  for (int64_t i = 0; i < read; ++i) row.push_back(load<T>(launch.in[0], in_start + i * problem.in_stride));
  const Value largest = maximum(row);
  if (planted("masked_row_is_zero") && largest == -std::numeric_limits<Value>::infinity()) {
    for (int64_t i = 0; i < problem.n; ++i) store<T>(launch.out, out_start + i * problem.out_stride, Value(0));
    return;
  }
  for (Value& value : row) {
    value = planted("computes_in_float32") ? static_cast<Value>(std::exp(static_cast<float>(value - largest)))
                                           : std::exp(value - largest);
  }
  const Value sum = total<T>(row);
  const int64_t step = planted("ignores_out_strides") ? 1 : problem.out_stride;
  for (int64_t i = 0; i < problem.n; ++i) store<T>(launch.out, out_start + i * step, row[static_cast<size_t>(i)] / sum);
  if (planted("writes_past_the_end") && problem.n % 2 == 1) store<T>(launch.out, out_start + problem.n * step, Value(0));
}

template <class T>
void run_as(const Problem& problem, const Launch& launch) {
  walk(problem.rows, [&](const Offsets<2>& at, int64_t) { run_row<T>(problem, launch, at[0], at[1]); });
}

void run(const Problem& problem, const Launch& launch) {
  switch (problem.dtype) {
    case OPRT_DTYPE_FLOAT16:
      return run_as<Float16>(problem, launch);
    case OPRT_DTYPE_BFLOAT16:
      return run_as<BFloat16>(problem, launch);
    case OPRT_DTYPE_FLOAT32:
      return run_as<float>(problem, launch);
    default:
      return run_as<double>(problem, launch);
  }
}

constexpr Implementation kImplementations[] = {
    implement<Problem, make_plain<Problem, run>>("planted"),
};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::softmax
