// Templates and types of core/descriptor.h; include that one.
#pragma once

#include "core/backend.h"
#include "core/descriptor.h"
#include "core/error.h"

struct oprt_descriptor {
  const char* op;
  const oprt::Backend* backend;
  oprt_device_t device;
  oprt::InPlace in_place;
  std::array<const char*, oprt::kMaxOperands> names;
  std::array<oprt_tensor_view_t, oprt::kMaxOperands> views;  // data is NULL: no pointer of the caller is kept
  std::array<oprt::ByteSpan, oprt::kMaxOperands> spans;
  std::array<bool, oprt::kMaxOperands> same_as_out;  // same shape, strides and element size as out
  oprt::Choice choice;
};

namespace oprt {

// Everything of a descriptor that does not depend on the operator; the plan is still missing.
std::unique_ptr<oprt_descriptor> describe(const char* op, oprt_backend_t backend, InPlace in_place, Operands operands);

template <class Canonicalize>
std::unique_ptr<oprt_descriptor> make_descriptor(const char* op, oprt_backend_t backend, InPlace in_place, Operands operands,
                                                 Canonicalize&& canonicalize) {
  check_operands(operands);
  const auto problem = canonicalize();
  std::unique_ptr<oprt_descriptor> desc = describe(op, backend, in_place, operands);
  const DeviceScope scope(*desc->backend, desc->device.id);
  desc->choice = choose(op, desc->backend->id, &problem);
  return desc;
}

template <class Canonicalize>
oprt_status_t create(const char* op, oprt_descriptor_t** desc, oprt_backend_t backend, InPlace in_place, Operands operands,
                     Canonicalize&& canonicalize) noexcept {
  if (desc != nullptr) *desc = nullptr;
  return guard(op, [&] {
    OPRT_CHECK(desc != nullptr, "desc", OPRT_ERR_INVALID_ARGUMENT, "desc is NULL");
    *desc = make_descriptor(op, backend, in_place, operands, canonicalize).release();
  });
}

template <class Canonicalize>
oprt_status_t check_support(const char* op, oprt_backend_t backend, InPlace in_place, Operands operands,
                            Canonicalize&& canonicalize) noexcept {
  return guard(op, [&] { make_descriptor(op, backend, in_place, operands, canonicalize); });
}

}  // namespace oprt
