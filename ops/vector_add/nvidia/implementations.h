// The implementations of vector_add on NVIDIA, a file each; nvidia/implementations.cu holds their order.
#pragma once

#include <memory>

#include "core/dispatch.h"
#include "ops/vector_add/vector_add.h"
#include "simt/vendor.h"

namespace oprt::vector_add::OPRT_VENDOR {

std::unique_ptr<const Plan> make_contiguous(const Problem& problem, const char** reason);
std::unique_ptr<const Plan> make_rows(const Problem& problem, const char** reason);
std::unique_ptr<const Plan> make_transpose(const Problem& problem, const char** reason);
std::unique_ptr<const Plan> make_gather(const Problem& problem, const char** reason);
std::unique_ptr<const Plan> make_strided(const Problem& problem, const char** reason);

}  // namespace oprt::vector_add::OPRT_VENDOR
