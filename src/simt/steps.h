// A plan of one or several launches, each reading and writing a tensor of the caller's or a part of the workspace.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/dispatch.h"
#include "operator_runtime/descriptor.h"

namespace oprt::simt {

// Where a step reads or writes: kTensor, or a place in the workspace from Steps::allocate.
constexpr int64_t kTensor = -1;
using Run = std::function<void(const void* in, void* out, void* stream)>;

class Steps {
 public:
  // A place for that many bytes.
  int64_t allocate(size_t bytes) {
    constexpr size_t kAlignment = OPRT_WORKSPACE_ALIGNMENT;
    const auto place = static_cast<int64_t>(workspace_size_);
    workspace_size_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return place;
  }
  void add(int64_t from, int64_t to, Run run) { steps_.push_back({from, to, std::move(run)}); }
  size_t workspace_size() const { return workspace_size_; }

  void run(const Launch& launch) const {
    auto* workspace = static_cast<char*>(launch.workspace);
    for (const Step& step : steps_) {
      const void* in = step.from == kTensor ? launch.in[0] : workspace + step.from;
      step.run(in, step.to == kTensor ? launch.out : workspace + step.to, launch.stream);
    }
  }

 private:
  struct Step {
    int64_t from;
    int64_t to;
    Run run;
  };
  std::vector<Step> steps_;
  size_t workspace_size_ = 0;
};

// The steps one after another, on any addresses.
class StepsPlan final : public Plan {
 public:
  explicit StepsPlan(Steps steps) : steps_(std::move(steps)) { workspace_size_ = steps_.workspace_size(); }
  void execute(const Launch& launch) const override { steps_.run(launch); }

 private:
  Steps steps_;
};

}  // namespace oprt::simt
