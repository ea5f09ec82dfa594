#include "ops/reduce_sum/reduce_sum.h"

#include <atomic>
#include <type_traits>
#include <vector>

#include "tests/planted/planted.h"

namespace oprt::reduce_sum {
namespace {

using namespace planted_faults;

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// Elements of one sum, in order, as offsets from where it starts.
using Terms = std::vector<int64_t>;

template <class In>
auto sum_floats(const void* in, int64_t start, const Terms& terms, bool backwards) {
  using Value = decltype(load<In>(in, 0));
  const size_t n = terms.size();
  const bool serial = planted("serial_float32");
  const bool narrow = planted("accumulates_in_16_bits");
  const size_t first = planted("keeps_the_last_chunk") && n > 1024 ? n / 1024 * 1024 : 0;
  long double exact = 0;
  Value value = 0;
  for (size_t i = first; i < n; ++i) {
    const Value term = load<In>(in, start + terms[backwards ? n - 1 - i : i]);
    exact += static_cast<long double>(term);
    value += term;
    if constexpr (std::is_same_v<In, Float16> || std::is_same_v<In, BFloat16>) {
      if (narrow) value = to_float(from_float<In>(value));
    }
  }
  if (serial || narrow || backwards) return value;
  if (planted("keeps_minus_zero") && n > 0 && exact == 0 && load<In>(in, start + terms[0]) == 0)
    return load<In>(in, start + terms[0]);
  return static_cast<Value>(exact);
}

template <class In>
int64_t sum_integers(const void* in, int64_t start, const Terms& terms) {
  uint64_t total = 0;
  for (const int64_t term : terms) total += static_cast<uint64_t>(load<In>(in, start + term));
  return planted("accumulates_in_32_bits") ? static_cast<int64_t>(static_cast<int32_t>(total)) : static_cast<int64_t>(total);
}

int64_t count_true(const void* in, int64_t start, const Terms& terms) {
  int64_t total = 0;
  for (const int64_t term : terms) {
    const uint8_t byte = load<uint8_t>(in, start + term);
    total += planted("sums_bool_bytes") ? byte : byte != 0;
  }
  return total;
}

template <class In, class Out>
void run_as(const Problem& problem, const Launch& launch) {
  static std::atomic<unsigned> calls{0};
  const bool backwards = planted("order_changes_by_call") && calls.fetch_add(1) % 2 == 1;
  Terms terms;
  walk(problem.reduced, [&](const Offsets<1>& at, int64_t) { terms.push_back(at[0]); });
  if (planted("skips_empty_sums") && terms.empty()) return;
  walk(problem.kept, [&](const Offsets<2>& at, int64_t position) {
    const int64_t target = planted("ignores_out_strides") ? problem.kept.offset[0] + position : at[0];
    if constexpr (kIsFloat<In>) {
      store<Out>(launch.out, target, sum_floats<In>(launch.in[0], at[1], terms, backwards));
    } else if (problem.in_dtype == OPRT_DTYPE_BOOL) {
      store<Out>(launch.out, target, count_true(launch.in[0], at[1], terms));
    } else {
      store<Out>(launch.out, target, sum_integers<In>(launch.in[0], at[1], terms));
    }
  });
}

template <class Half>
void run_half(const Problem& problem, const Launch& launch) {
  return problem.out_dtype == OPRT_DTYPE_FLOAT32 ? run_as<Half, float>(problem, launch) : run_as<Half, Half>(problem, launch);
}

void run(const Problem& problem, const Launch& launch) {
  switch (problem.in_dtype) {
    case OPRT_DTYPE_INT8:
      return run_as<int8_t, int64_t>(problem, launch);
    case OPRT_DTYPE_INT16:
      return run_as<int16_t, int64_t>(problem, launch);
    case OPRT_DTYPE_INT32:
      return run_as<int32_t, int64_t>(problem, launch);
    case OPRT_DTYPE_INT64:
      return run_as<int64_t, int64_t>(problem, launch);
    case OPRT_DTYPE_UINT16:
      return run_as<uint16_t, int64_t>(problem, launch);
    case OPRT_DTYPE_UINT32:
      return run_as<uint32_t, int64_t>(problem, launch);
    case OPRT_DTYPE_UINT64:
      return run_as<uint64_t, int64_t>(problem, launch);
    case OPRT_DTYPE_FLOAT16:
      return run_half<Float16>(problem, launch);
    case OPRT_DTYPE_BFLOAT16:
      return run_half<BFloat16>(problem, launch);
    case OPRT_DTYPE_FLOAT32:
      return run_as<float, float>(problem, launch);
    case OPRT_DTYPE_FLOAT64:
      return run_as<double, double>(problem, launch);
    default:  // uint8 and bool
      return run_as<uint8_t, int64_t>(problem, launch);
  }
}

constexpr Implementation kImplementations[] = {
    implement<Problem, make_plain<Problem, run>>("planted"),
};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::reduce_sum
