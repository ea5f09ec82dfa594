// From an operator's traits to its Python functions. ops/<op>/python.cc says:
//
//   struct Softmax : OperatorTraits<1> {             // number of inputs
//     OPRT_PYTHON_FUNCTIONS(softmax)                 // its C functions
//     struct Attributes { int32_t dim; };            // what create takes after the tensors; compared by its bytes
//     static Attributes parse(const Operands&, nb::handle dim);      // one handle per Python argument
//     static std::tuple<int32_t> pass(const Attributes&);            // arguments of create and check
//     static oprt_tensor_view_t infer(const Operands&, const Attributes&);  // out of the allocating form; may take options
//   };
//   void bind_softmax(nb::module_& module) { bind<Softmax>(module, kDocs, std::tuple(attribute("dim", -1))); }
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <tuple>
#include <utility>

#include "native/allocate.h"
#include "native/arguments.h"
#include "native/call.h"
#include "native/prepared.h"

#define OPRT_PYTHON_FUNCTIONS(op)                                           \
  static constexpr const char* kName = #op;                                 \
  static constexpr auto kCreate = oprt_create_##op##_descriptor;            \
  static constexpr auto kCheck = oprt_check_##op##_support;                 \
  static constexpr auto kGetWorkspaceSize = oprt_get_##op##_workspace_size; \
  static constexpr auto kExecute = oprt_execute_##op;                       \
  static constexpr auto kDestroy = oprt_destroy_##op##_descriptor;

namespace oprt_python {

// Of an operator without attributes; one that has some hides these.
template <int num_inputs>
struct OperatorTraits {
  static constexpr int kNumInputs = num_inputs;
  static constexpr std::array<const char*, 1> kInputNames = {"x"};
  struct Attributes {};
  static Attributes parse(const Operands&) { return {}; }
  static std::tuple<> pass(const Attributes&) { return {}; }
};

struct Docs {
  const char* allocating;
  const char* into;
  const char* prepare;
};

namespace detail {

template <size_t>
using Handle = nb::handle;

// How many handles a function takes after its fixed parameters.
template <class... Arguments>
constexpr size_t num_handles(oprt_tensor_view_t (*)(const Operands&, Arguments...)) {
  return sizeof...(Arguments) - 1;
}
template <class Parsed, class... Arguments>
constexpr size_t num_handles(Parsed (*)(const Operands&, Arguments...)) {
  return sizeof...(Arguments);
}

template <class Op, class Inputs = std::make_index_sequence<static_cast<size_t>(Op::kNumInputs)>>
struct Adapter;

template <class Op, size_t... I>
struct Adapter<Op, std::index_sequence<I...>> {
  static_assert(Op::kInputNames.size() == sizeof...(I) && sizeof...(I) < kMaxOperands);
  using Values = typename Op::Attributes;
  static constexpr size_t kNumAttributes = num_handles(&Op::parse);
  static constexpr size_t kNumOptions = num_handles(&Op::infer);

  static oprt_status_t create(oprt_descriptor_t** desc, oprt_backend_t backend, const oprt_tensor_view_t* views,
                              const Attributes& attributes) {
    const auto call = [&](auto... values) { return Op::kCreate(desc, backend, &views[0], &views[1 + I]..., values...); };
    const Values values = attributes.as<Values>();
    return std::apply(call, Op::pass(values));
  }

  static oprt_status_t check(oprt_backend_t backend, const oprt_tensor_view_t* views, const Attributes& attributes) {
    const auto call = [&](auto... values) { return Op::kCheck(backend, &views[0], &views[1 + I]..., values...); };
    const Values values = attributes.as<Values>();
    return std::apply(call, Op::pass(values));
  }

  static oprt_status_t execute(const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out,
                               const void* const* in, void* stream) {
    return Op::kExecute(desc, workspace, workspace_size, out, in[I]..., stream);
  }

  static constexpr Operator kOperator = {Op::kName, Op::kNumInputs, Op::kInputNames.data(), create, check, Op::kGetWorkspaceSize,
                                         execute,   Op::kDestroy};

  static Attributes parse(const Operands& operands, const nb::handle* values) {
    return [&]<size_t... A>(std::index_sequence<A...>) {
      return Attributes(Op::parse(operands, values[A]...));
    }(std::make_index_sequence<kNumAttributes>());
  }

  static oprt_tensor_view_t infer(const Operands& operands, const Attributes& attributes, const nb::handle* options) {
    return [&]<size_t... A>(std::index_sequence<A...>) {
      return Op::infer(operands, attributes.as<Values>(), options[A]...);
    }(std::make_index_sequence<kNumOptions>());
  }

  static constexpr Signature kSignature = {&kOperator, parse, infer, kNumAttributes, kNumOptions};

  // A function of `N` handles that hands them over as an array.
  template <auto call, size_t... N>
  static auto function(std::index_sequence<N...>) {
    return [](Handle<N>... handles) {
      const std::array<nb::handle, sizeof...(N)> all = {handles...};
      return call(all.data());
    };
  }

  static constexpr size_t kNumTensors = sizeof...(I) + 1;

  static nb::object allocating(const nb::handle* all) {  // inputs, attributes, options, backend
    const nb::handle* options = all + sizeof...(I) + kNumAttributes;
    return call_allocating(kSignature, all, all + sizeof...(I), options, options[kNumOptions]);
  }
  static nb::object into(const nb::handle* all) {  // out, inputs, attributes, backend
    return call_into(kSignature, all, all + kNumTensors, all[kNumTensors + kNumAttributes]);
  }
  static nb::tuple supported(const nb::handle* all) {
    return check_support(kSignature, all, all + kNumTensors, all[kNumTensors + kNumAttributes]);
  }
  static nb::object prepare(const nb::handle* all) {  // as into, then workspace
    const nb::handle* last = all + kNumTensors + kNumAttributes;
    auto prepared = std::make_unique<Prepared>(kSignature, all, all + kNumTensors, last[0], last[1]);
    return nb::cast(prepared.release(), nb::rv_policy::take_ownership);
  }

  template <class... AttributeArgs, class... OptionArgs>
  static void bind(nb::module_& module, const Docs& docs, const std::tuple<AttributeArgs...>& attributes,
                   const std::tuple<OptionArgs...>& options) {
    static_assert(sizeof...(AttributeArgs) == kNumAttributes && sizeof...(OptionArgs) == kNumOptions);
    const std::string name = Op::kName;
    const auto backend = nb::arg("backend") = nb::none();
    const auto define = [&](const std::string& as, auto function, const char* doc, const auto&... arguments) {
      module.def(as.c_str(), function, arguments..., doc);
    };
    const auto with_attributes = [&](auto body) { std::apply(body, attributes); };
    with_attributes([&](const auto&... a) {
      constexpr auto kInto = std::make_index_sequence<kNumTensors + kNumAttributes + 1>();
      constexpr auto kPrepare = std::make_index_sequence<kNumTensors + kNumAttributes + 2>();
      constexpr auto kAllocating = std::make_index_sequence<sizeof...(I) + kNumAttributes + kNumOptions + 1>();
      std::apply(
          [&](const auto&... o) {
            define(name, function<allocating>(kAllocating), docs.allocating, nb::arg(Op::kInputNames[I]).none()..., a...,
                   nb::kw_only(), o..., backend);
          },
          options);
      define(name + "_", function<into>(kInto), docs.into, nb::arg("out").none(), nb::arg(Op::kInputNames[I]).none()..., a...,
             nb::kw_only(), backend);
      define("prepare_" + name, function<prepare>(kPrepare), docs.prepare, nb::arg("out").none(),
             nb::arg(Op::kInputNames[I]).none()..., a..., nb::kw_only(), backend, nb::arg("workspace") = nb::none());
      define("check_" + name, function<supported>(kInto), "What is_supported() answers.", nb::arg("out").none(),
             nb::arg(Op::kInputNames[I]).none()..., a..., nb::kw_only(), backend);
    });
  }
};

}  // namespace detail

// An attribute with a default, as in `attribute("dim", -1)`.
template <class T>
auto attribute(const char* name, T&& value) {
  return nb::arg(name).none() = std::forward<T>(value);
}

// Defines <op>, <op>_, prepare_<op> and check_<op>. `options` are further keywords of the allocating form.
template <class Op, class... AttributeArgs, class... OptionArgs>
void bind(nb::module_& module, const Docs& docs, const std::tuple<AttributeArgs...>& attributes = {},
          const std::tuple<OptionArgs...>& options = {}) {
  detail::Adapter<Op>::bind(module, docs, attributes, options);
}

}  // namespace oprt_python
