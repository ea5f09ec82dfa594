#include "native/arguments.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <string_view>

namespace oprt_python {
namespace {

constexpr const char* kBackendNames = "auto, cpu, nvidia, metax, tilelang";

bool equal_in_any_case(std::string_view a, std::string_view b) {
  const auto same = [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

// A tensor of bool, which torch lets be an index.
bool holds_bool(nb::handle value) {
  return PyLong_CheckExact(value.ptr()) == 0 && printable(nb::getattr(value, "dtype", nb::none())).ends_with("bool");
}

}  // namespace

oprt_backend_t parse_backend(const char* op, nb::handle backend) {
  if (backend.is_none()) return OPRT_BACKEND_AUTO;
  if (PyUnicode_Check(backend.ptr()) == 0) {
    raise(PyExc_TypeError, "%s: backend is a %s, expected a name, a Backend or None", op,
          type_name(Py_TYPE(backend.ptr())).c_str());
  }
  const std::string_view name = utf8(backend);
  for (const oprt_backend_t id : {OPRT_BACKEND_AUTO, OPRT_BACKEND_CPU, OPRT_BACKEND_NVIDIA, OPRT_BACKEND_METAX}) {
    if (equal_in_any_case(name, oprt_backend_name(id))) return id;
  }
  if (equal_in_any_case(name, "tilelang")) raise(PyExc_RuntimeError, "%s: there are no TileLang operators in this build", op);
  raise(PyExc_ValueError, "%s: backend is %s, expected one of %s", op, printable(nb::repr(backend)).c_str(), kBackendNames);
}

int32_t parse_dim(const char* op, nb::handle dim, int32_t ndim) {
  if (PyIndex_Check(dim.ptr()) == 0 || PyBool_Check(dim.ptr()) != 0) {
    raise(PyExc_TypeError, "%s: dim is a %s, expected an integer", op, type_name(Py_TYPE(dim.ptr())).c_str());
  }
  if (holds_bool(dim)) raise(PyExc_TypeError, "%s: dim is a bool tensor, expected an integer", op);
  const nb::object index = nb::steal(PyNumber_Index(dim.ptr()));
  if (!index.is_valid()) raise_from_pending(PyExc_TypeError, "%s: dim is no integer", op);
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  using Limits = std::numeric_limits<int32_t>;
  if (overflow == 0 && value >= Limits::min() && value <= Limits::max()) return static_cast<int32_t>(value);
  const int32_t bound = std::max(ndim, 1);
  raise(dim_error(), "%s: dim is %s, expected %d..%d for a %d-D input", op, printable(index).c_str(), -bound, bound - 1, ndim);
}

Dims parse_dims(const char* op, nb::handle dim, int32_t ndim) {
  Dims dims{};
  if (dim.is_none()) return dims;
  if (PyTuple_Check(dim.ptr()) == 0 && PyList_Check(dim.ptr()) == 0) {
    dims.values[0] = parse_dim(op, dim, ndim);
    dims.count = 1;
    return dims;
  }
  for (const nb::handle value : nb::borrow<nb::sequence>(dim)) {
    const int32_t parsed = parse_dim(op, value, ndim);
    if (static_cast<size_t>(dims.count) < dims.values.size()) dims.values[static_cast<size_t>(dims.count)] = parsed;
    ++dims.count;
  }
  return dims;
}

int32_t is_true(nb::handle value) {
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw nb::python_error();
  return truth;
}

oprt_dtype_t parse_dtype(const char* op, nb::handle dtype) {
  nb::object name = nb::borrow(dtype);
  for (const char* attribute : {"name", "__name__"}) {  // of a NumPy dtype, of a NumPy type
    if (!nb::isinstance<nb::str>(name)) name = nb::getattr(dtype, attribute, dtype);
  }
  const nb::str text(name);
  std::string_view spelled = utf8(text);
  if (const std::string_view package = "torch."; spelled.starts_with(package)) spelled.remove_prefix(package.size());
  for (oprt_dtype_t id = OPRT_DTYPE_BOOL; id <= OPRT_DTYPE_COMPLEX128; ++id) {
    if (spelled == oprt_dtype_name(id)) return id;
  }
  raise(PyExc_ValueError, "%s: dtype is %s, expected a dtype such as float32", op, printable(nb::repr(dtype)).c_str());
}

}  // namespace oprt_python
