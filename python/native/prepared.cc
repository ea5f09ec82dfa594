#include "native/prepared.h"

#include <algorithm>
#include <string>

#include "native/allocate.h"
#include "native/arguments.h"

namespace oprt_python {
namespace {

constexpr const char* kSincePrepared = "after it was prepared, prepare it again";

std::string list_text(const int64_t* values, int count) {
  std::string text = "(";
  for (int i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + std::to_string(values[i]);
  return text + (count == 1 ? ",)" : ")");
}

// Raises ValueError unless `given` is what was `prepared`, up to its memory.
void check_description(const char* op, const char* argument, const oprt_tensor_view_t& given, const oprt_tensor_view_t& prepared) {
  if (given.dtype != prepared.dtype) {
    raise(PyExc_ValueError, "%s: %s is %s, expected %s as prepared", op, argument, oprt_dtype_name(given.dtype),
          oprt_dtype_name(prepared.dtype));
  }
  if (given.device.type != prepared.device.type || given.device.id != prepared.device.id) {
    raise(PyExc_ValueError, "%s: %s is on device (%d, %d), expected (%d, %d) as prepared", op, argument, given.device.type,
          given.device.id, prepared.device.type, prepared.device.id);
  }
  if (given.ndim != prepared.ndim || !std::equal(given.shape, given.shape + given.ndim, prepared.shape)) {
    raise(PyExc_ValueError, "%s: %s has shape %s, expected %s as prepared", op, argument,
          list_text(given.shape, given.ndim).c_str(), list_text(prepared.shape, prepared.ndim).c_str());
  }
  if (!same_strides(given, prepared)) {
    raise(PyExc_ValueError, "%s: %s has strides %s, expected %s as prepared", op, argument,
          list_text(given.strides, given.ndim).c_str(), list_text(prepared.strides, prepared.ndim).c_str());
  }
}

int traverse_prepared(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Prepared>(self)->traverse(visit, arg) : 0;
}

int clear_prepared(PyObject* self) {
  nb::inst_ptr<Prepared>(self)->destroy();
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_prepared)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear_prepared)},
                       {0, nullptr}};

}  // namespace

Prepared::State::State(const Signature& signature, const nb::handle* given, const nb::handle* attributes, nb::handle backend)
    : op(signature.op), kind{}, views{} {
  Operands operands(op->name);
  read_operands(*op, given, operands);
  const Request request{op, parse_backend(op->name, backend), operands.views(), signature.parse(operands, attributes)};
  descriptor = std::make_shared<const Descriptor>(request);
  kind = operands.kind(1);
  for (int k = 0; k <= op->num_inputs; ++k) {
    const auto i = static_cast<size_t>(k);
    tensors[i] = nb::borrow(given[k]);
    views[i] = operands.view(k);
    // NumPy's lease is a reference that the garbage collector cannot see; the array itself is held already.
    if (!operands.kind(k).is_numpy) leases[i] = operands.take_lease(k);
  }
}

Prepared::State::~State() {
  if (workspace_captured) workspace.release();  // a captured graph still writes there
}

void Prepared::State::allocate_workspace() {
  if (descriptor->workspace_size() == 0) return;
  Allocated allocated =
      allocate_workspace_tensor(op->name, kind, tensors[1], views[0].device, descriptor->workspace_size(), workspace_view);
  workspace = std::move(allocated.tensor);
  workspace_lease = std::move(allocated.lease);
  workspace_kind = kind;
}

void Prepared::State::use_workspace(nb::handle given) {
  oprt_tensor_view_t& view = workspace_view;
  workspace_kind = kind_of(Py_TYPE(given.ptr()));
  workspace_lease = read_tensor(op->name, "workspace", given, workspace_kind, Access::kWrite, view);
  const oprt_device_t device = views[0].device;
  if (view.device.type != device.type || view.device.id != device.id) {
    raise(PyExc_ValueError, "%s: workspace is on device (%d, %d), out is on (%d, %d)", op->name, view.device.type, view.device.id,
          device.type, device.id);
  }
  if (!same_strides(view, contiguous_view(view.dtype, view.device, view.ndim, view.shape))) {
    raise(PyExc_ValueError, "%s: workspace has strides %s, expected a contiguous tensor", op->name,
          list_text(view.strides, view.ndim).c_str());
  }
  const size_t bytes = size_in_bytes(view);
  const size_t needed = descriptor->workspace_size();
  if (bytes < needed) {
    raise(PyExc_RuntimeError, "%s: workspace_size is %zu bytes, expected at least %zu", op->name, bytes, needed);
  }
  if (needed > 0 && reinterpret_cast<uintptr_t>(view.data) % OPRT_WORKSPACE_ALIGNMENT != 0) {
    raise(PyExc_ValueError, "%s: workspace is %p, expected an address aligned to %d bytes", op->name, view.data,
          OPRT_WORKSPACE_ALIGNMENT);
  }
  workspace = nb::borrow(given);
  if (workspace_kind.is_numpy) workspace_lease = Lease();
}

void Prepared::State::check_tensors() const {
  const bool is_dual_level = kind.is_torch && in_dual_level();
  for (int k = 0; k <= op->num_inputs; ++k) {
    const auto i = static_cast<size_t>(k);
    const char* name = k == 0 ? "out" : op->input_names[k - 1];
    check_unchanged(op->name, name, tensors[i], kind, views[i], kSincePrepared);
    if (!kind.is_torch) continue;
    check_gradient(op->name, name, tensors[i]);
    if (is_dual_level) check_not_dual(op->name, name, tensors[i]);
  }
}

void Prepared::State::execute(const oprt_tensor_view_t* operands) const {
  const size_t bytes = descriptor->workspace_size();
  if (bytes > 0) {
    check_unchanged(op->name, "workspace", workspace, workspace_kind, workspace_view, kSincePrepared);
    if (!workspace_captured) workspace_captured = is_capturing(operands[0].device);
  }
  descriptor->execute(operands, aligned(workspace_view.data), bytes, current_stream(kind, operands[0].device));
}

Prepared::Prepared(const Signature& signature, const nb::handle* tensors, const nb::handle* attributes, nb::handle backend,
                   nb::handle workspace)
    : op_(signature.op->name), state_(std::make_shared<State>(signature, tensors, attributes, backend)) {
  if (workspace.is_none()) {
    state_->allocate_workspace();
  } else {
    state_->use_workspace(workspace);
  }
}

const Prepared::State& Prepared::alive(const char* what) const {
  if (state_ == nullptr) [[unlikely]]
    raise(PyExc_RuntimeError, "%s: %s after destroy()", op_, what);
  return *state_;
}

void Prepared::run() const {
  alive("run()");
  const std::shared_ptr<State> state = state_;  // a check may run Python code, and that may call destroy()
  state->check_tensors();
  state->execute(state->views.data());
}

void Prepared::run_inputs(const nb::args& tensors) const {
  alive("run_inputs()");
  const std::shared_ptr<State> state = state_;
  const Operator& op = *state->op;
  const auto expected = static_cast<size_t>(op.num_inputs) + 1;
  if (tensors.size() != expected) {
    raise(PyExc_TypeError, "%s: run_inputs takes %zu tensors, out first, and got %zu", op_, expected, tensors.size());
  }
  std::array<nb::handle, kMaxOperands> handles;
  for (size_t k = 0; k < expected; ++k) handles[k] = tensors[k];
  Operands operands(op_);
  read_operands(op, handles.data(), operands);
  for (size_t k = 0; k < expected; ++k) {
    check_description(op_, k == 0 ? "out" : op.input_names[k - 1], operands.views()[k], state->views[k]);
  }
  if (operands.has_subclass()) operands.check_unchanged();
  state->execute(operands.views());
}

nb::object Prepared::workspace() const {
  const nb::object& tensor = alive("workspace").workspace;
  return tensor.is_valid() ? tensor : nb::none();
}

int Prepared::traverse(visitproc visit, void* arg) const {
  if (state_ == nullptr) return 0;
  for (const nb::object& tensor : state_->tensors) Py_VISIT(tensor.ptr());
  Py_VISIT(state_->workspace.ptr());
  return 0;
}

void Prepared::bind(nb::module_& module) {
  nb::class_<Prepared>(
      module, "Prepared", nb::type_slots(slots),
      "A call checked once, to be run any number of times, by one thread at a time. Made by prepare_<op>(); keeps its "
      "tensors alive.")
      .def("run", &Prepared::run,
           "Computes, on the stream that is current now.\n\n"
           "Raises RuntimeError after destroy(), and for a torch tensor that was given other memory or another shape since. A "
           "NumPy array is used as it was prepared: like a view, whatever its flags and shape became since.")
      .def("run_inputs", &Prepared::run_inputs, nb::arg("tensors"),
           "run_inputs(out, *inputs): the same on other tensors of the same dtypes, device, shapes and strides.\n\n"
           "Raises ValueError for tensors that differ from the prepared ones in one of these.")
      .def("destroy", &Prepared::destroy, "Lets go of tensors, workspace and descriptor. May be called again.")
      .def_prop_ro("workspace", &Prepared::workspace, "The workspace given or allocated; None where none is needed.")
      .def_prop_ro("implementation", &Prepared::implementation, "The name of the implementation that was chosen.")
      .def_prop_ro("backend", &Prepared::backend, "The name of the backend that computes, as in Backend.")
      .def("__enter__", [](nb::object self) { return self; })
      .def(
          "__exit__", [](Prepared& self, const nb::args&) { self.destroy(); }, nb::arg("exception").none())
      .def("__repr__", [](const Prepared& self) {
        if (!self.is_alive()) return nb::str("<Prepared {}, destroyed>").format(self.op());
        return nb::str("<Prepared {} on {}, {}>").format(self.op(), self.backend(), self.implementation());
      });
}

}  // namespace oprt_python
