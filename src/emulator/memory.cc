#include "emulator/memory.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "emulator/emulator.h"

namespace oprt::emulator {
namespace {

struct Scope {
  MemoryMap memory;
  Scope* outer;
};

__thread Scope* innermost;

}  // namespace

void MemoryMap::add(Buffer buffer) {
  if (buffer.begin == buffer.end) return;
  buffers_.push_back(std::move(buffer));
  is_prepared_ = false;
}

void MemoryMap::prepare() {
  if (is_prepared_) return;
  is_prepared_ = true;
  std::vector<Region> before = std::move(regions_);
  regions_.clear();
  num_words_ = 0;
  std::vector<const Buffer*> sorted;
  for (const Buffer& buffer : buffers_) sorted.push_back(&buffer);
  std::sort(sorted.begin(), sorted.end(), [](const Buffer* a, const Buffer* b) { return a->begin < b->begin; });
  for (const Buffer* buffer : sorted) {
    if (regions_.empty() || buffer->begin >= regions_.back().end) {
      regions_.push_back({buffer->begin, buffer->end, true, nullptr});
    }
    Region& region = regions_.back();
    region.end = std::max(region.end, buffer->end);
    region.is_constant = region.is_constant && buffer->read_only && buffer->initialised;
  }
  for (Region& region : regions_) {
    if (region.is_constant) continue;
    region.flags = std::make_unique<uint8_t[]>(region.end - region.begin);
    region.first_word = num_words_;
    num_words_ += (region.end - region.begin) / 4 + 2;  // a region may start inside a word
    for (const Buffer& buffer : buffers_) {
      if (buffer.begin < region.begin || buffer.end > region.end) continue;
      const auto flags = static_cast<uint8_t>((buffer.read_only ? 0 : kWritable) | (buffer.initialised ? kInitialised : 0));
      for (uintptr_t i = buffer.begin; i < buffer.end; ++i) region.flags[i - region.begin] |= flags;
    }
    for (const Region& old : before) {
      if (old.is_constant) continue;
      const uintptr_t end = std::min(old.end, region.end);
      for (uintptr_t i = std::max(old.begin, region.begin); i < end; ++i) {
        if ((old.flags[i - old.begin] & kInitialised) != 0) region.flags[i - region.begin] |= kInitialised;
      }
    }
  }
}

Region* MemoryMap::find(uintptr_t address, size_t bytes) {
  for (Region& region : regions_) {
    if (region.holds(address, bytes)) return &region;
  }
  return nullptr;
}

std::string MemoryMap::describe(uintptr_t address, size_t bytes, bool is_write) const {
  const Buffer* best = nullptr;
  uintptr_t best_distance = 0;
  for (const Buffer& buffer : buffers_) {
    const uintptr_t distance = address < buffer.begin ? buffer.begin - address
                               : address < buffer.end ? 0
                                                      : address - buffer.end + 1;
    const bool is_better = best == nullptr || distance < best_distance ||
                           (distance == best_distance && is_write && best->read_only && !buffer.read_only);
    if (!is_better) continue;
    best = &buffer;
    best_distance = distance;
  }
  if (best == nullptr) return "memory that no argument covers";
  const std::string name = best->name + " (" + std::to_string(best->end - best->begin) + " bytes)";
  if (address < best->begin) return std::to_string(best->begin - address) + " bytes before " + name;
  if (address >= best->end) return std::to_string(address - best->end) + " bytes past the end of " + name;
  const std::string inside = "byte " + std::to_string(address - best->begin) + " of " + name;
  return bytes > best->end - address ? inside + ", over its end" : inside;
}

BufferScope::BufferScope() { innermost = new Scope{{}, innermost}; }

BufferScope::~BufferScope() {
  Scope* outer = innermost->outer;
  delete innermost;
  innermost = outer;
}

void register_buffer(const char* name, const void* pointer, size_t bytes, bool read_only, bool initialised) {
  OPRT_ICHECK(innermost != nullptr);
  const auto begin = reinterpret_cast<uintptr_t>(pointer);
  innermost->memory.add({name, begin, begin + bytes, read_only, initialised});
}

MemoryMap* current_memory() { return innermost == nullptr ? nullptr : &innermost->memory; }

}  // namespace oprt::emulator
