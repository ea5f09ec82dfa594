#include "emulator/check.h"

#include <link.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "emulator/worker.h"

namespace oprt::emulator {
namespace {

// Of the library or program that holds the kernels and the emulator.
struct Module {
  uintptr_t tls_begin = 0;  // of this thread
  size_t tls_bytes = 0;
  std::vector<std::pair<uintptr_t, uintptr_t>> segments;
};

uintptr_t code_base() { return reinterpret_cast<uintptr_t>(&code_base); }

int add_module(dl_phdr_info* info, size_t, void* data) {
  Module found;
  bool is_ours = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type == PT_LOAD) {
      const uintptr_t begin = info->dlpi_addr + header.p_vaddr, end = begin + header.p_memsz;
      found.segments.push_back({begin, end});
      is_ours = is_ours || (code_base() >= begin && code_base() < end);
    } else if (header.p_type == PT_TLS) {
      found.tls_begin = reinterpret_cast<uintptr_t>(info->dlpi_tls_data);
      found.tls_bytes = header.p_memsz;
    }
  }
  if (is_ours) *static_cast<Module*>(data) = found;
  return is_ours ? 1 : 0;
}

Module find_module() {
  threadIdx = {};  // from here on this thread has its copy
  Module module;
  dl_iterate_phdr(add_module, &module);
  return module;
}

const Module& module() {
  static const Module module = find_module();
  return module;
}

Shadow global_shadow;

// Cells of global memory are locked by groups of neighbours.
constexpr size_t kCellsOfLock = 16, kLocks = 4096;
std::array<std::atomic_flag, kLocks> locks;

class CellLock {
 public:
  explicit CellLock(size_t word) : flag_(locks[word / kCellsOfLock % kLocks]) {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~CellLock() { flag_.clear(std::memory_order_release); }
  CellLock(const CellLock&) = delete;
  CellLock& operator=(const CellLock&) = delete;

 private:
  std::atomic_flag& flag_;
};

// What other launches or blocks left does not count.
void renew(Cell& cell, uint32_t generation) {
  if (cell.generation != generation) cell = {.generation = generation, .initialised = 0, .writes = {}, .reads = {}};
}

// The bytes of the word at `word` that [begin, end) covers, a bit each.
uint8_t bytes_of_word(uintptr_t word, uintptr_t begin, uintptr_t end) {
  const uintptr_t first = begin > word ? begin - word : 0, last = std::min<uintptr_t>(end - word, kWordBytes);
  return static_cast<uint8_t>((1u << last) - (1u << first));
}

}  // namespace

void prepare_check(Launch& launch) {
  if (!is_checked()) return;
  static MemoryMap nothing;
  static uint32_t serial = 0;
  launch.memory = current_memory() == nullptr ? &nothing : current_memory();
  launch.memory->prepare();
  launch.serial = ++serial;
  global_shadow.reserve(launch.memory->num_words());
  module();
}

struct Checker::Now {
  Worker& worker;
  uintptr_t address;
  size_t bytes;
  Touch touch;
  uintptr_t pc;
  bool is_reported = false;  // as a race: an access is told of once

  AccessKind kind() const { return touch.is_atomic ? AccessKind::kAtomic : touch.writes ? AccessKind::kWrite : AccessKind::kRead; }
  Fault fault(Kind of) const { return {.kind = of, .at = worker.here(kind(), pc), .address = address, .bytes = bytes}; }
};

Checker::Checker() {
  const Module here = find_module();
  static_begin_ = here.tls_begin;
  static_bytes_ = here.tls_bytes;
  static_shadow_.reserve(static_bytes_ / kWordBytes + 2);
  dynamic_shadow_.reserve(kMaxSharedBytes / kWordBytes + 2);
}

void Checker::start_launch() { last_region_ = nullptr; }

void Checker::start_block(const Worker& worker) {
  ++generation_;
  clocks_.start_block(worker.live.size());
}

bool Checker::is_index(uintptr_t address) const {
  const auto is_within = [address](const void* variable) {
    return address - reinterpret_cast<uintptr_t>(variable) < sizeof(uint3);
  };
  return is_within(&threadIdx) || is_within(&blockIdx) || is_within(&blockDim) || is_within(&gridDim);
}

void Checker::access(Worker& worker, uintptr_t address, size_t bytes, Touch touch, uintptr_t pc) {
  if (bytes == 0 || worker.current->fiber->holds(reinterpret_cast<const void*>(address))) return;
  Now now = {worker, address, bytes, touch, pc};
  const KernelCall& call = worker.launch->call;
  if (is_static_shared(address)) {
    if (!is_index(address)) look_at_shared(now, static_shadow_, static_begin_);
    return;
  }
  const auto dynamic_begin = reinterpret_cast<uintptr_t>(worker.dynamic_shared.get());
  if (address - dynamic_begin < call.shared_bytes && bytes <= dynamic_begin + call.shared_bytes - address) {
    return look_at_shared(now, dynamic_shadow_, dynamic_begin);
  }
  if (last_region_ == nullptr || !last_region_->holds(address, bytes)) last_region_ = worker.launch->memory->find(address, bytes);
  if (last_region_ != nullptr) return look_at_global(now, *last_region_);
  if (!touch.writes) {
    if (address - reinterpret_cast<uintptr_t>(call.arguments) < call.argument_bytes) return;
    for (const auto& [begin, end] : module().segments) {  // constants
      if (address >= begin && address < end) return;
    }
  }
  worker.fail(now.fault(Kind::kOutOfBounds));
}

void Checker::look_at_shared(Now& now, Shadow& shadow, uintptr_t begin) {
  const uintptr_t end = now.address + now.bytes;
  const uintptr_t base = begin & ~(kWordBytes - 1);
  for (uintptr_t word = now.address & ~(kWordBytes - 1); word < end; word += kWordBytes) {
    const uint8_t bytes = bytes_of_word(word, now.address, end);
    Cell& cell = shadow.cells()[(word - base) / kWordBytes];
    renew(cell, generation_);
    if (now.touch.reads && (cell.initialised & bytes) != bytes) now.worker.note(now.fault(Kind::kUninitialisedRead));
    if (now.touch.writes) cell.initialised |= bytes;
    look_at_word(now, cell, bytes);
  }
}

void Checker::look_at_global(Now& now, Region& region) {
  if (region.is_constant) {
    if (now.touch.writes) now.worker.fail(now.fault(Kind::kReadOnlyWrite));
    return;
  }
  uint8_t* flags = &region.flags[now.address - region.begin];
  bool is_writable = false, is_initialised = true;
  for (size_t i = 0; i < now.bytes; ++i) {
    if ((flags[i] & kWritable) != 0) {
      is_writable = true;
    } else if (now.touch.writes) {
      now.worker.fail(now.fault(Kind::kReadOnlyWrite));
    }
    is_initialised = is_initialised && (flags[i] & kInitialised) != 0;
    if (now.touch.writes) flags[i] |= kInitialised;
  }
  if (now.touch.reads && !is_initialised) now.worker.note(now.fault(Kind::kUninitialisedRead));
  if (!is_writable) return;
  const uintptr_t end = now.address + now.bytes, base = region.begin & ~(kWordBytes - 1);
  for (uintptr_t word = now.address & ~(kWordBytes - 1); word < end; word += kWordBytes) {
    const size_t index = region.first_word + (word - base) / kWordBytes;
    const CellLock lock(index);
    Cell& cell = global_shadow.cells()[index];
    renew(cell, now.worker.launch->serial);
    look_at_word(now, cell, bytes_of_word(word, now.address, end));
  }
}

void Checker::look_at_word(Now& now, Cell& cell, uint8_t bytes) {
  compare(now, cell.writes, bytes, AccessKind::kWrite);
  if (now.touch.writes) compare(now, cell.reads, bytes, AccessKind::kRead);
  remember(now, now.touch.writes ? cell.writes : cell.reads, bytes);
}

// Notes a race with a record of that kind.
void Checker::compare(Now& now, const Record (&records)[2], uint8_t bytes, AccessKind kind) {
  const Worker& worker = now.worker;
  for (const Record& record : records) {
    if ((record.bytes & bytes) == 0 || now.is_reported) continue;
    if (record.is_atomic && now.touch.is_atomic) continue;
    if (record.block == worker.block) {
      const Thread& other = worker.threads[record.thread];
      if (&other == worker.current || clocks_.is_ordered(record, other, *worker.current)) continue;
    }
    Fault fault = now.fault(Kind::kRace);
    const uintptr_t pc = code_base() + static_cast<uintptr_t>(static_cast<intptr_t>(record.code));
    fault.other = {record.is_atomic ? AccessKind::kAtomic : kind, record.block, record.thread, pc, nullptr};
    now.worker.note(fault);
    now.is_reported = true;
  }
}

// The newest record first. A write takes the place of one that it covers, a read only of the same thread's: a later write must meet
// a reader other than itself.
void Checker::remember(const Now& now, Record (&records)[2], uint8_t bytes) const {
  const Thread& thread = *now.worker.current;
  const auto block = static_cast<uint32_t>(now.worker.block);
  const bool is_covered = (records[0].bytes & ~bytes) == 0;
  const bool is_own = records[0].block == block && records[0].thread == thread.number;
  if (!is_covered || (!now.touch.writes && !is_own)) records[1] = records[0];
  records[0] = {
      block,         clocks_.epoch(), clocks_.clock(thread), static_cast<int32_t>(static_cast<intptr_t>(now.pc - code_base())),
      thread.number, bytes,           now.touch.is_atomic};
}

std::string Checker::describe(const Worker& worker, const Fault& fault) const {
  if (is_static_shared(fault.address)) return "static shared memory";
  const auto dynamic_begin = reinterpret_cast<uintptr_t>(worker.dynamic_shared.get());
  if (fault.address - dynamic_begin < kMaxSharedBytes) {
    return "byte " + std::to_string(fault.address - dynamic_begin) + " of dynamic shared memory (" +
           std::to_string(worker.launch->call.shared_bytes) + " bytes)";
  }
  return worker.launch->memory->describe(fault.address, fault.bytes, fault.at.kind != AccessKind::kRead);
}

}  // namespace oprt::emulator
