// Plain kernels with faults to choose from: OPRT_PLANTED names the fault, "none" is the right kernel. The cases must reject each
// fault and accept "none" (tests/test_planted.py reads the names from the lines that call planted()).
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <type_traits>

#include "core/dispatch.h"
#include "core/half.h"
#include "core/layout.h"

namespace oprt::planted_faults {

inline bool planted(const char* fault) {
  static const char* const chosen = std::getenv("OPRT_PLANTED");
  return chosen != nullptr && std::strcmp(chosen, fault) == 0;
}

template <int N>
using Offsets = std::array<int64_t, static_cast<size_t>(N)>;

// Calls visit(offsets, position) for every index in row-major order; offsets are in elements from each operand's element 0.
template <int N, class Visit>
void walk(const Space<N>& space, Visit&& visit) {
  std::array<int64_t, OPRT_MAX_DIMS> index{};
  const int64_t size = space.size();
  for (int64_t position = 0; position < size; ++position) {
    Offsets<N> offsets = space.offset;
    for (size_t d = 0; d < static_cast<size_t>(space.ndim); ++d) {
      for (size_t k = 0; k < static_cast<size_t>(N); ++k) offsets[k] += index[d] * space.strides[k][d];
    }
    visit(offsets, position);
    for (int d = space.ndim - 1; d >= 0; --d) {
      const auto dim = static_cast<size_t>(d);
      if (++index[dim] < space.shape[dim]) break;
      index[dim] = 0;
    }
  }
}

template <int N>
bool has_negative_stride(const Space<N>& space, size_t operand) {
  for (size_t d = 0; d < static_cast<size_t>(space.ndim); ++d) {
    if (space.strides[operand][d] < 0) return true;
  }
  return false;
}

// The plan of a kernel that is a function of the problem and the pointers.
template <class Problem, void (*run)(const Problem&, const Launch&)>
class PlainPlan final : public Plan {
 public:
  explicit PlainPlan(const Problem& problem) : problem_(problem) {}
  void execute(const Launch& launch) const override { run(problem_, launch); }

 private:
  Problem problem_;
};

template <class Problem, void (*run)(const Problem&, const Launch&)>
std::unique_ptr<const Plan> make_plain(const Problem& problem, const char** /*reason*/) {
  return std::make_unique<PlainPlan<Problem, run>>(problem);
}

// One operation's value in the type that it is computed in.
template <class T>
auto load(const void* data, int64_t offset) {
  const T value = static_cast<const T*>(data)[offset];
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return to_float(value);
  } else {
    return value;
  }
}

template <class T, class Value>
void store(void* data, int64_t offset, Value value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    static_cast<T*>(data)[offset] = from_float<T>(static_cast<float>(value));
  } else {
    static_cast<T*>(data)[offset] = static_cast<T>(value);
  }
}

}  // namespace oprt::planted_faults
