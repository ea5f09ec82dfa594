// Global memory that a kernel may touch, as a checked launch knows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace oprt::emulator {

struct Buffer {
  std::string name;
  uintptr_t begin;
  uintptr_t end;
  bool read_only;
  bool initialised;
};

// Of each byte of a region.
constexpr uint8_t kWritable = 1, kInitialised = 2;

// Buffers that overlap, as one stretch.
struct Region {
  uintptr_t begin;
  uintptr_t end;
  bool is_constant;  // nothing in it is writable or uninitialised
  std::unique_ptr<uint8_t[]> flags;
  size_t first_word = 0;  // of all regions' words of 4 bytes

  bool holds(uintptr_t address, size_t bytes) const { return address >= begin && address < end && bytes <= end - address; }
};

class MemoryMap {
 public:
  void add(Buffer buffer);
  // Brings the regions up to date. What has been written stays initialised.
  void prepare();

  Region* find(uintptr_t address, size_t bytes);
  size_t num_words() const { return num_words_; }

  // "byte 12 of out (400 bytes)", or how far the address is from the nearest buffer.
  std::string describe(uintptr_t address, size_t bytes, bool is_write) const;

 private:
  std::vector<Buffer> buffers_;
  std::vector<Region> regions_;  // by address
  size_t num_words_ = 0;
  bool is_prepared_ = false;
};

// Of this thread of the host's innermost scope; null without one.
MemoryMap* current_memory();

}  // namespace oprt::emulator
