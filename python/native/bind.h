// Where the generated bind_ops.cc meets the module.
#pragma once

#include <nanobind/nanobind.h>

namespace oprt_python {

// Calls bind_<op>(module) of every operator in this build.
void bind_all_ops(nanobind::module_& module);

}  // namespace oprt_python
