// Reports of faults: who, where, and what the other threads of the block were doing.
#include "emulator/fault.h"

#include <algorithm>
#include <map>

#include "emulator/check.h"
#include "emulator/worker.h"

namespace oprt::emulator {
namespace {

std::string triple(uint3 v) { return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")"; }

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

// Without the folders before the source tree's own.
std::string short_path(const std::string& file) {
  size_t begin = 0;
  for (const char* folder : {"/ops/", "/src/", "/tests/"}) {
    const size_t found = file.rfind(folder);
    if (found != file.npos) begin = std::max(begin, found + 1);
  }
  return file.substr(begin);
}

std::string line_of(const Place& place) {
  return place.file.empty() ? "a line unknown without debug information"
                            : short_path(place.file) + ":" + std::to_string(place.line);
}

uint3 unflatten(uint64_t number, dim3 size) {
  return {static_cast<unsigned>(number % size.x), static_cast<unsigned>(number / size.x % size.y),
          static_cast<unsigned>(number / size.x / size.y)};
}

const char* access_name(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "read";
    case AccessKind::kWrite:
      return "write";
    case AccessKind::kAtomic:
      return "atomic";
    default:
      return "";
  }
}

Place make_place(const KernelCall& call, const Access& access) {
  Place place;
  place.block = unflatten(access.block, call.grid);
  place.thread = unflatten(access.thread, call.block);
  place.access = access_name(access.kind);
  if (access.site != nullptr) {
    place.file = access.site->file_name();
    place.line = static_cast<int>(access.site->line());
  } else if (access.pc != 0) {
    locate(access.pc, place);
  }
  return place;
}

// A hung thread may have been interrupted in the engine: then it is in what it called last.
void leave_engine(const Worker& worker, const Thread& thread, Place& place) {
  if (!place.file.empty() && place.file.find("src/emulator/") == place.file.npos) return;
  place.callers.clear();
  if (worker.last_access != 0) return locate(worker.last_access, place);
  place.file = thread.site.file_name();
  place.line = static_cast<int>(thread.site.line());
}

const char* exchange_name(Exchange kind) {
  constexpr const char* kNames[] = {"shuffle", "shuffle_up", "shuffle_down", "shuffle_xor", "ballot", "any", "all", "sync_warp"};
  return kNames[static_cast<int>(kind)];
}

std::string activity(const Thread& thread, bool is_running) {
  Place place;
  place.file = thread.site.file_name();
  place.line = static_cast<int>(thread.site.line());
  switch (thread.state) {
    case State::kAtBarrier:
      return "wait in sync_block at " + line_of(place);
    case State::kInExchange:
      return std::string("wait in ") + exchange_name(thread.exchange) + " with mask " + hex(thread.mask) + " at " + line_of(place);
    case State::kDone:
      return "have returned";
    case State::kNew:
      return is_running ? "is running" : "have not started";
    default:
      return is_running ? "is running" : "are ready to go on";
  }
}

// "0-31, 64" for a sorted list.
std::string ranges(const std::vector<unsigned>& numbers) {
  constexpr int kMost = 8;
  std::string text;
  int count = 0;
  for (size_t i = 0; i < numbers.size(); ++count) {
    if (count == kMost) return text + ", ...";
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]) + (last > i ? "-" + std::to_string(numbers[last]) : "");
    i = last + 1;
  }
  return text;
}

// What each thread of the block was at, a line for each group.
std::string census(const Worker& worker, unsigned running) {
  std::map<std::string, std::vector<unsigned>> groups;
  for (const Thread& thread : worker.threads) groups[activity(thread, thread.number == running)].push_back(thread.number);
  std::string text;
  for (const auto& [what, numbers] : groups) {
    text += "\n  " + std::to_string(numbers.size()) + (numbers.size() == 1 ? " thread (" : " threads (") + ranges(numbers) + ") " +
            what;
  }
  return text;
}

std::string message(const Worker& worker, const Fault& fault) {
  const auto what = [&] {
    return std::string(access_name(fault.at.kind)) + " of " + std::to_string(fault.bytes) +
           (fault.bytes == 1 ? " byte at " : " bytes at ") + worker.checker->describe(worker, fault);
  };
  switch (fault.kind) {
    case Kind::kOutOfBounds:
      return "out of bounds: " + what();
    case Kind::kReadOnlyWrite:
      return "write to an input: " + what();
    case Kind::kUninitialisedRead:
      return "uninitialised memory: " + what();
    case Kind::kRace:
      return "data race: " + what();
    case Kind::kArrayBounds:
      return "index " + std::to_string(static_cast<int64_t>(fault.address)) + " is outside an array of fixed size";
    case Kind::kMisaligned:
      return "misaligned access: " + hex(fault.address) + " is not a multiple of " + std::to_string(fault.alignment) +
             (worker.checker == nullptr ? "" : ", " + worker.checker->describe(worker, fault));
    case Kind::kDivergentBarrier:
      return worker.num_alive < worker.threads.size()
                 ? "divergent barrier: " + std::to_string(worker.num_alive) + " of " + std::to_string(worker.threads.size()) +
                       " threads come to sync_block, the others have returned"
                 : "divergent barrier: threads of one block meet in different calls of sync_block";
    case Kind::kDeadlock:
      return "deadlock: no thread can go on";
    case Kind::kWrongMask: {
      const Thread& thread = worker.threads[fault.at.thread];
      return std::string("wrong mask: lane ") + std::to_string(thread.lane) + " calls " + exchange_name(thread.exchange) +
             " with mask " + hex(thread.mask) + " and width " + std::to_string(thread.width) + ", on " +
             std::to_string(worker.launch->call.warp_size) + " lanes";
    }
    default:
      return "hang: the block has not ended after " + std::to_string(worker.launch->options.timeout_s) + " s of processor time";
  }
}

bool is_of_all_threads(Kind kind) {
  return kind == Kind::kDivergentBarrier || kind == Kind::kDeadlock || kind == Kind::kWrongMask || kind == Kind::kHang;
}

}  // namespace

const char* kind_name(Kind kind) {
  constexpr const char* kNames[] = {"out_of_bounds", "misaligned",        "array_bounds", "read_only_write", "uninitialised_read",
                                    "race",          "divergent_barrier", "deadlock",     "wrong_mask",      "hang"};
  return kNames[static_cast<int>(kind)];
}

Report make_report(const Worker& worker, const Fault& fault) {
  const KernelCall& call = worker.launch->call;
  Report report = {
      .kind = fault.kind, .kernel = kernel_name(call.kernel), .text = {}, .at = make_place(call, fault.at), .other = {}};
  if (fault.kind == Kind::kHang) leave_engine(worker, worker.threads[fault.at.thread], report.at);
  report.text = message(worker, fault) + "; block " + triple(report.at.block) + ", thread " + triple(report.at.thread) + ", at " +
                line_of(report.at);
  if (fault.other.kind != AccessKind::kNone) {
    report.other.push_back(make_place(call, fault.other));
    const Place& other = report.other.front();
    report.text += "; earlier " + other.access + " by block " + triple(other.block) + ", thread " + triple(other.thread) + ", at " +
                   line_of(other);
  }
  report.text += "; in kernel " + report.kernel;
  if (is_of_all_threads(fault.kind)) report.text += census(worker, fault.at.thread);
  return report;
}

}  // namespace oprt::emulator
