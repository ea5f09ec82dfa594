// The opaque descriptor, and the checks that are the same for every operator.
#pragma once

#include <array>
#include <memory>
#include <span>

#include "core/dispatch.h"
#include "core/overlap.h"
#include "operator_runtime/descriptor.h"
#include "operator_runtime/tensor.h"

namespace oprt {

constexpr int kMaxOperands = 4;

// One tensor argument: its name in the header, and the caller's view.
struct Operand {
  const char* name;
  const oprt_tensor_view_t* view;
};

// Whether execute lets `out` be exactly an input.
enum class InPlace { kNo, kYes };

// Operands of a call, out first. check_operands throws unless every view is well formed, all are on one device and out writes no
// address twice.
using Operands = std::span<const Operand>;
void check_operands(Operands operands);

// For a `canonicalize` below: throws INVALID_ARGUMENT unless `in` has out's shape.
void check_same_shape(const Operand& out, const Operand& in);

// Fills *desc for the operator `op`. `canonicalize` (called after check_operands) throws, or returns the operator's Problem.
template <class Canonicalize>
oprt_status_t create(const char* op, oprt_descriptor_t** desc, oprt_backend_t backend, InPlace in_place, Operands operands,
                     Canonicalize&& canonicalize) noexcept;

// create without keeping the descriptor.
template <class Canonicalize>
oprt_status_t check_support(const char* op, oprt_backend_t backend, InPlace in_place, Operands operands,
                            Canonicalize&& canonicalize) noexcept;

oprt_status_t get_workspace_size(const char* op, const oprt_descriptor_t* desc, size_t* workspace_size) noexcept;

// `in` holds one pointer per input, in the order of create.
oprt_status_t execute(const char* op, const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out,
                      std::span<const void* const> in, void* stream) noexcept;

oprt_status_t destroy(const char* op, oprt_descriptor_t* desc) noexcept;

}  // namespace oprt

#include "core/descriptor_inl.h"
