// A call that is checked once and run any number of times.
#pragma once

#include <array>
#include <memory>

#include "native/call.h"

namespace oprt_python {

class Prepared {
 public:
  // `tensors` are out and the inputs; `workspace` a tensor or None.
  Prepared(const Signature& signature, const nb::handle* tensors, const nb::handle* attributes, nb::handle backend,
           nb::handle workspace);

  void run() const;
  void run_inputs(const nb::args& tensors) const;
  void destroy() { state_.reset(); }
  bool is_alive() const { return state_ != nullptr; }

  nb::object workspace() const;
  const char* implementation() const { return alive("implementation").descriptor->implementation(); }
  const char* backend() const { return alive("backend").descriptor->backend(); }
  const char* op() const { return op_; }

  // For the garbage collector.
  int traverse(visitproc visit, void* argument) const;

  static void bind(nb::module_& module);

 private:
  // Shared by calls in progress, so that destroy() in another thread frees nothing under them.
  struct State {
    State(const Signature& signature, const nb::handle* tensors, const nb::handle* attributes, nb::handle backend);
    ~State();
    void allocate_workspace();
    void use_workspace(nb::handle given);
    void execute(const oprt_tensor_view_t* views) const;
    // Raises RuntimeError where a tensor was given other memory or another shape since, or has a derivative by now.
    void check_tensors() const;

    const Operator* op;
    std::shared_ptr<const Descriptor> descriptor;
    Kind kind;
    std::array<nb::object, kMaxOperands> tensors;
    std::array<Lease, kMaxOperands> leases;
    std::array<oprt_tensor_view_t, kMaxOperands> views;
    nb::object workspace;
    Lease workspace_lease;
    Kind workspace_kind{};
    oprt_tensor_view_t workspace_view{};
    mutable bool workspace_captured = false;
  };

  const State& alive(const char* what) const;

  const char* op_;
  std::shared_ptr<State> state_;
};

}  // namespace oprt_python
