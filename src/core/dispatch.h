// How an operator finds the code that computes: each backend offers an ordered list of implementations, and the first that accepts
// the problem makes the plan.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "operator_runtime/backend.h"

namespace oprt {

// What execute hands to a plan: checked pointers to element 0.
struct Launch {
  void* out;
  const void* const* in;
  void* workspace;
  void* stream;
};

// One operator on one problem, ready to run any number of times, from any thread. Throws Error.
class Plan {
 public:
  virtual ~Plan() = default;
  virtual void execute(const Launch& launch) const = 0;
  size_t workspace_size() const { return workspace_size_; }

 protected:
  size_t workspace_size_ = 0;
};

// An implementation that does not take the problem sets *reason (static text) and returns nullptr.
struct Implementation {
  const char* name;
  std::unique_ptr<const Plan> (*make)(const void* problem, const char** reason);
};
using Implementations = std::span<const Implementation>;

// Adapts `make(const Problem&, const char** reason)` to the table's type: implement<Problem, make_rows>("rows").
template <class Problem, std::unique_ptr<const Plan> (*make)(const Problem&, const char**)>
constexpr Implementation implement(const char* name) {
  return {name, [](const void* problem, const char** reason) { return make(*static_cast<const Problem*>(problem), reason); }};
}

// From the table that the build generates out of ops/<op>/<backend>/; empty where the operator has no such folder. Each such folder
// defines `Implementations oprt::<op>::<backend>_implementations()`.
Implementations find_implementations(const char* op, oprt_backend_t backend);

// The first implementation of `op` on `backend` that accepts. Throws UNSUPPORTED with every reason when none does.
// OPRT_VERBOSE=dispatch prints the choice and the reasons to stderr.
struct Choice {
  const char* name;
  std::unique_ptr<const Plan> plan;
};
Choice choose(const char* op, oprt_backend_t backend, const void* problem);

}  // namespace oprt

// In an implementation's make: OPRT_REQUIRE(n <= 1024, "rows of at most 1024 elements");
#define OPRT_REQUIRE(cond, why) \
  do {                          \
    if (!(cond)) {              \
      *reason = (why);          \
      return nullptr;           \
    }                           \
  } while (0)
