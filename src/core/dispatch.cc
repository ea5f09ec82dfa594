#include "core/dispatch.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "core/error.h"
#include "core/registry.h"

namespace oprt {
namespace {

bool is_verbose() {
  const char* topics = std::getenv("OPRT_VERBOSE");
  return topics != nullptr && std::strstr(topics, "dispatch") != nullptr;
}

}  // namespace

Implementations find_implementations(const char* op, oprt_backend_t backend) {
  for (const OperatorEntry& entry : operator_entries()) {
    if (entry.backend == backend && std::strcmp(entry.op, op) == 0) return entry.implementations();
  }
  return {};
}

Choice choose(const char* op, oprt_backend_t backend, const void* problem) {
  const bool verbose = is_verbose();
  const char* backend_name = oprt_backend_name(backend);
  std::string declined;
  for (const Implementation& implementation : find_implementations(op, backend)) {
    const char* reason = "";
    std::unique_ptr<const Plan> plan = implementation.make(problem, &reason);
    if (plan != nullptr) {
      if (verbose) std::fprintf(stderr, "oprt dispatch: %s on %s: %s\n", op, backend_name, implementation.name);
      return {implementation.name, std::move(plan)};
    }
    if (verbose) std::fprintf(stderr, "oprt dispatch: %s on %s: not %s: needs %s\n", op, backend_name, implementation.name, reason);
    declined += std::string(declined.empty() ? "" : "; ") + implementation.name + " needs " + reason;
  }
  throw Error(OPRT_ERR_UNSUPPORTED, "backend", "backend %s takes no such case: %s", backend_name,
              declined.empty() ? "it has no implementation of this operator" : declined.c_str());
}

}  // namespace oprt
