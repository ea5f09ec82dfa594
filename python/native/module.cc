// The module operator_runtime loads: the operators, Prepared, errors and the descriptor cache.
#include <nanobind/nanobind.h>

#include <cstring>

#include "native/arguments.h"
#include "native/bind.h"
#include "native/cache.h"
#include "native/prepared.h"

#if defined(OPRT_EMULATION)
// Of an emulation build's library: src/backends/emulated/reports.cc.
extern "C" const char* oprt_emulator_take_reports() noexcept;
#endif

namespace oprt_python {
namespace {

nb::dict cache_info() {
  const DescriptorCache::Info info = descriptor_cache().info();
  nb::dict result;
  result["hits"] = info.hits;
  result["creates"] = info.creates;
  result["evictions"] = info.evictions;
  result["size"] = info.size;
  result["capacity"] = DescriptorCache::kCapacity;
  return result;
}

// "" or why the backend cannot run here. This is the one function that may load a driver without computing anything.
nb::str check_backend(nb::handle name) {
  const oprt_backend_t backend = parse_backend("check_backend", name);
  if (oprt_check_backend(backend) == OPRT_OK) return nb::str("");
  const char* text = oprt_last_error();
  const char* reason = std::strstr(text, ": ");  // after "backend <name> is not available", which the caller knows
  return nb::str(reason != nullptr ? reason + 2 : text);
}

}  // namespace
}  // namespace oprt_python

NB_MODULE(_native, module) {
  using namespace oprt_python;
  nb::set_leak_warnings(false);  // a Prepared may live in a global until the process ends
  if (oprt_abi_version() != OPRT_ABI_VERSION) {
    raise(PyExc_ImportError, "liboperator_runtime has binary interface %d, this module was built for %d", oprt_abi_version(),
          OPRT_ABI_VERSION);
  }
  module.doc() = "The native part of operator_runtime. Use the functions of operator_runtime.ops.";
  module.attr("version") = oprt_version();
  module.attr("DimError") = nb::handle(dim_error());
  Prepared::bind(module);
  bind_all_ops(module);
  module.def("cache_info", &cache_info, "Counts of the descriptor cache of one-shot calls, since the start or cache_clear().");
  module.def("cache_clear", [] { descriptor_cache().clear(); }, "Empties the descriptor cache and sets its counts to 0.");
  module.def("check_backend", &check_backend, nb::arg("name"), "\"\" or the reason why the backend cannot run here.");
#if defined(OPRT_EMULATION)
  nb::dict lanes;
  lanes["nvidia"] = 32;
  lanes["metax"] = 64;
  module.attr("emulated_lanes") = lanes;
  module.def(
      "take_emulator_reports", [] { return nb::str(oprt_emulator_take_reports()); }, "JSON of the reports since the last call.");
#endif
}
