// One-shot calls: read, look the descriptor up, execute.
#pragma once

#include <memory>
#include <span>

#include "native/cache.h"
#include "native/operands.h"

namespace oprt_python {

// Attributes from Python values: `operands` holds the tensors that were read, `values` the values in the order of the operator's
// signature.
using ParseAttributes = Attributes (*)(const Operands& operands, const nb::handle* values);
// The view of an allocated out, by what the operator makes of its inputs; it may be wrong where create is going to refuse them.
using InferOut = oprt_tensor_view_t (*)(const Operands& operands, const Attributes& attributes, const nb::handle* values);

struct Signature {
  const Operator* op;
  ParseAttributes parse;
  InferOut infer;
  int num_attributes;
  int num_options;
};

// `tensors` are out and the inputs. Returns out.
nb::object call_into(const Signature& signature, const nb::handle* tensors, const nb::handle* attributes, nb::handle backend);

// `inputs` are the inputs alone, `options` what infer takes. Returns a new tensor of the first input's kind.
nb::object call_allocating(const Signature& signature, const nb::handle* inputs, const nb::handle* attributes,
                           const nb::handle* options, nb::handle backend);

// (True, "") or (False, reason), for the operands and attributes of call_into. Raises TypeError for what is no tensor.
nb::tuple check_support(const Signature& signature, const nb::handle* tensors, const nb::handle* attributes, nb::handle backend);

void read_operands(const Operator& op, const nb::handle* tensors, Operands& operands);

// Whether torch's current stream is being captured. Asks only for a device, and only where torch is imported.
bool is_capturing(oprt_device_t device);

}  // namespace oprt_python
