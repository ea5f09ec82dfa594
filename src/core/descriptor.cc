#include "core/descriptor.h"

#include <algorithm>
#include <cstring>

#include "core/tensor.h"

namespace oprt {
namespace {

bool same_layout(const oprt_tensor_view_t& a, const oprt_tensor_view_t& b) {
  if (a.ndim != b.ndim || oprt_dtype_size(a.dtype) != oprt_dtype_size(b.dtype)) return false;
  for (int d = 0; d < a.ndim; ++d) {
    if (a.shape[d] != b.shape[d]) return false;
    if (a.shape[d] > 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

void check_is(const char* op, const oprt_descriptor_t* desc) {
  OPRT_CHECK(desc != nullptr, "desc", OPRT_ERR_INVALID_ARGUMENT, "desc is NULL");
  OPRT_CHECK(desc->op == op || std::strcmp(desc->op, op) == 0, "desc", OPRT_ERR_INVALID_ARGUMENT, "desc is a descriptor of %s",
             desc->op);
}

void check_pointer(const oprt_descriptor& desc, size_t k, const void* data) {
  if (desc.spans[k].low == desc.spans[k].high) return;
  const char* name = desc.names[k];
  OPRT_CHECK(data != nullptr, name, OPRT_ERR_INVALID_ARGUMENT, "%s is NULL, expected a pointer to element 0", name);
  const size_t element_size = oprt_dtype_size(desc.views[k].dtype);
  const size_t alignment = element_size > 8 ? 8 : element_size;  // complex128 is a pair of float64
  OPRT_CHECK(reinterpret_cast<uintptr_t>(data) % alignment == 0, name, OPRT_ERR_INVALID_ARGUMENT,
             "%s is %p, expected an address aligned to %zu bytes", name, data, alignment);
}

// Whether two spans, each relative to its pointer, share an address.
bool spans_meet(const ByteSpan& a, const void* a_data, const ByteSpan& b, const void* b_data) {
  __extension__ typedef __int128 Address;  // a span may reach further than an address does
  const auto a_address = static_cast<Address>(reinterpret_cast<uintptr_t>(a_data));
  const auto b_address = static_cast<Address>(reinterpret_cast<uintptr_t>(b_data));
  if (a.low == a.high || b.low == b.high) return false;
  return a_address + a.low < b_address + b.high && b_address + b.low < a_address + a.high;
}

void check_workspace(const oprt_descriptor& desc, const void* workspace, size_t needed, size_t k, const void* data) {
  OPRT_CHECK(!spans_meet({0, static_cast<int64_t>(needed)}, workspace, desc.spans[k], data), "workspace", OPRT_ERR_INVALID_ARGUMENT,
             "workspace overlaps %s, expected memory of its own", desc.names[k]);
}

void check_overlap(const oprt_descriptor& desc, const void* out, size_t k, const void* in) {
  if (!spans_meet(desc.spans[0], out, desc.spans[k], in)) return;
  const char* name = desc.names[k];
  if (out == in && desc.same_as_out[k]) {
    OPRT_CHECK(desc.in_place == InPlace::kYes, "out", OPRT_ERR_INVALID_ARGUMENT, "out is %s, expected memory of its own", name);
    return;
  }
  const Overlap overlap = views_overlap(desc.views[0], out, desc.views[k], in);
  OPRT_CHECK(overlap == Overlap::kNo, "out", OPRT_ERR_INVALID_ARGUMENT, "out %s %s, expected disjoint memory%s",
             overlap == Overlap::kYes ? "overlaps" : "could not be proved disjoint from", name,
             desc.in_place == InPlace::kYes ? " or exactly the same view" : "");
}

}  // namespace

void check_operands(Operands operands) {
  for (const Operand& operand : operands) check_view(operand.name, operand.view);
  const Operand& out = operands.front();
  for (const Operand& operand : operands.subspan(1)) {
    const oprt_device_t device = operand.view->device;
    OPRT_CHECK(device.type == out.view->device.type && device.id == out.view->device.id, operand.name, OPRT_ERR_INVALID_ARGUMENT,
               "%s is on device (%d, %d), out is on (%d, %d)", operand.name, device.type, device.id, out.view->device.type,
               out.view->device.id);
  }
  const Overlap twice = writes_twice(*out.view);
  OPRT_CHECK(twice == Overlap::kNo, out.name, OPRT_ERR_INVALID_ARGUMENT, "%s %s", out.name,
             twice == Overlap::kYes ? "has several elements at one address" : "could not be proved free of overlap within itself");
}

void check_same_shape(const Operand& out, const Operand& in) {
  const bool same =
      out.view->ndim == in.view->ndim && std::equal(out.view->shape, out.view->shape + out.view->ndim, in.view->shape);
  OPRT_CHECK(same, out.name, OPRT_ERR_INVALID_ARGUMENT, "%s has shape %s, expected %s, the shape of %s", out.name,
             shape_text(*out.view).c_str(), shape_text(*in.view).c_str(), in.name);
}

std::unique_ptr<oprt_descriptor> describe(const char* op, oprt_backend_t backend, InPlace in_place, Operands operands) {
  OPRT_ICHECK(operands.size() <= kMaxOperands);
  auto desc = std::make_unique<oprt_descriptor>();
  desc->op = op;
  desc->device = operands.front().view->device;
  desc->backend = &resolve_backend(backend, desc->device);
  desc->in_place = in_place;
  for (size_t k = 0; k < operands.size(); ++k) {
    desc->names[k] = operands[k].name;
    desc->views[k] = *operands[k].view;
    desc->views[k].data = nullptr;
    desc->spans[k] = byte_span(desc->views[k]);
    desc->same_as_out[k] = same_layout(desc->views[0], desc->views[k]);
  }
  return desc;
}

oprt_status_t get_workspace_size(const char* op, const oprt_descriptor_t* desc, size_t* workspace_size) noexcept {
  return guard(op, [&] {
    check_is(op, desc);
    OPRT_CHECK(workspace_size != nullptr, "workspace_size", OPRT_ERR_INVALID_ARGUMENT, "workspace_size is NULL");
    *workspace_size = desc->choice.plan->workspace_size();
  });
}

oprt_status_t execute(const char* op, const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out,
                      std::span<const void* const> in, void* stream) noexcept {
  return guard(op, [&] {
    check_is(op, desc);
    const size_t needed = desc->choice.plan->workspace_size();
    OPRT_CHECK(workspace_size >= needed, "workspace_size", OPRT_ERR_INSUFFICIENT_WORKSPACE,
               "workspace_size is %zu bytes, expected at least %zu", workspace_size, needed);
    if (needed > 0) {
      OPRT_CHECK(workspace != nullptr, "workspace", OPRT_ERR_INVALID_ARGUMENT, "workspace is NULL, expected %zu bytes", needed);
      OPRT_CHECK(reinterpret_cast<uintptr_t>(workspace) % OPRT_WORKSPACE_ALIGNMENT == 0, "workspace", OPRT_ERR_INVALID_ARGUMENT,
                 "workspace is %p, expected an address aligned to %d bytes", workspace, OPRT_WORKSPACE_ALIGNMENT);
    }
    desc->backend->check_stream(stream);
    check_pointer(*desc, 0, out);
    check_workspace(*desc, workspace, needed, 0, out);
    for (size_t k = 0; k < in.size(); ++k) {
      check_pointer(*desc, k + 1, in[k]);
      check_workspace(*desc, workspace, needed, k + 1, in[k]);
      check_overlap(*desc, out, k + 1, in[k]);
    }
    const DeviceScope scope(*desc->backend, desc->device.id);
    const Launch launch{out, in.data(), workspace, stream};
    desc->backend->run != nullptr ? desc->backend->run(*desc, launch) : desc->choice.plan->execute(launch);
  });
}

oprt_status_t destroy(const char* op, oprt_descriptor_t* desc) noexcept {
  if (desc == nullptr) return OPRT_OK;
  return guard(op, [&] {
    check_is(op, desc);
    delete desc;
  });
}

}  // namespace oprt

const char* oprt_descriptor_implementation(const oprt_descriptor_t* desc) noexcept {
  return desc != nullptr ? desc->choice.name : "";
}

oprt_backend_t oprt_descriptor_backend(const oprt_descriptor_t* desc) noexcept {
  return desc != nullptr ? desc->backend->id : OPRT_BACKEND_AUTO;
}
