#include "native/call.h"

#include <algorithm>

#include "native/allocate.h"
#include "native/arguments.h"

namespace oprt_python {
namespace {

std::shared_ptr<const Descriptor> find_descriptor(const Request& request) {
  if (std::shared_ptr<const Descriptor> found = descriptor_cache().find(request)) return found;
  if (is_capturing(request.views[0].device)) [[unlikely]] {
    const char* op = request.op->name;
    raise(PyExc_RuntimeError, "%s: the stream is being captured and this call is the first of its kind; prepare first (prepare_%s)",
          op, op);
  }
  return descriptor_cache().create(request);
}

// Whether making an attribute of `value` ran no Python code.
bool is_plain(nb::handle value) {
  PyObject* const object = value.ptr();
  if (PyTuple_CheckExact(object) != 0 || PyList_CheckExact(object) != 0) {
    const auto values = nb::borrow<nb::sequence>(value);
    return std::all_of(values.begin(), values.end(), is_plain);
  }
  return object == Py_None || PyBool_Check(object) != 0 || PyLong_CheckExact(object) != 0 || PyUnicode_CheckExact(object) != 0;
}

// Reading the tensors one by one and parsing attributes may have run code that took memory away from a tensor read before.
void check_if_changed(const Operands& operands, const nb::handle* values, int num_values) {
  if (operands.has_subclass() || !std::all_of(values, values + num_values, is_plain)) [[unlikely]]
    operands.check_unchanged();
}

void execute(const Descriptor& descriptor, const Operands& operands, nb::handle like) {
  const oprt_tensor_view_t* views = operands.views();
  const Kind& kind = operands.kind(1);
  const size_t bytes = descriptor.workspace_size();
  const Workspace workspace(operands.op(), kind, like, views[0].device, bytes);
  descriptor.execute(views, workspace.data(), bytes, current_stream(kind, views[0].device));
}

void read_inputs(const Operator& op, const nb::handle* inputs, Operands& operands) {
  for (int k = 0; k < op.num_inputs; ++k) operands.read(k + 1, op.input_names[k], inputs[k], Access::kRead);
  if (operands.kind(1).is_torch && in_dual_level()) [[unlikely]]
    operands.check_not_dual();
}

}  // namespace

void read_operands(const Operator& op, const nb::handle* tensors, Operands& operands) {
  operands.read(0, "out", tensors[0], Access::kWrite);
  read_inputs(op, tensors + 1, operands);
}

bool is_capturing(oprt_device_t device) {
  if (device.type == OPRT_DEVICE_CPU) return false;
  const nb::object torch = nb::steal(PyImport_GetModule(nb::str("torch").ptr()));
  return torch.is_valid() && nb::cast<bool>(torch.attr("cuda").attr("is_current_stream_capturing")());
}

nb::object call_into(const Signature& signature, const nb::handle* tensors, const nb::handle* attributes, nb::handle backend) {
  const Operator& op = *signature.op;
  Operands operands(op.name);
  read_operands(op, tensors, operands);
  const Request request{&op, parse_backend(op.name, backend), operands.views(), signature.parse(operands, attributes)};
  const std::shared_ptr<const Descriptor> descriptor = find_descriptor(request);
  check_if_changed(operands, attributes, signature.num_attributes);
  execute(*descriptor, operands, tensors[1]);
  return nb::borrow(tensors[0]);
}

nb::object call_allocating(const Signature& signature, const nb::handle* inputs, const nb::handle* attributes,
                           const nb::handle* options, nb::handle backend) {
  const Operator& op = *signature.op;
  Operands operands(op.name);
  read_inputs(op, inputs, operands);
  const Attributes parsed = signature.parse(operands, attributes);
  operands.view(0) = signature.infer(operands, parsed, options);
  const Request request{&op, parse_backend(op.name, backend), operands.views(), parsed};
  const std::shared_ptr<const Descriptor> descriptor = find_descriptor(request);
  Allocated out = allocate_tensor(op.name, operands.kind(1), inputs[0], operands.view(0));
  operands.view(0).data = out.data;
  check_if_changed(operands, attributes, signature.num_attributes);
  check_if_changed(operands, options, signature.num_options);
  execute(*descriptor, operands, inputs[0]);
  return finish_tensor(operands.kind(1), inputs[0], std::move(out));
}

nb::tuple check_support(const Signature& signature, const nb::handle* tensors, const nb::handle* attributes, nb::handle backend) {
  const Operator& op = *signature.op;
  try {
    Operands operands(op.name);
    read_operands(op, tensors, operands);
    const Attributes parsed = signature.parse(operands, attributes);
    check_status(op.check(parse_backend(op.name, backend), operands.views(), parsed), op.input_names[0]);
  } catch (nb::python_error& error) {
    for (PyObject* reason : {PyExc_ValueError, PyExc_NotImplementedError, PyExc_RuntimeError}) {
      if (error.matches(reason)) return nb::make_tuple(false, nb::str(error.value()));
    }
    throw;
  }
  return nb::make_tuple(true, "");
}

}  // namespace oprt_python
