// What is remembered of each word of memory that threads share: who wrote it last, who read it last, and where in the code.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace oprt::emulator {

constexpr size_t kWordBytes = 4;

// One access. When it was in its block's course: `epoch` counts the block's barriers, `clock` the thread's own warp barriers.
struct Record {
  uint32_t block;
  uint32_t epoch;
  uint32_t clock;
  int32_t code;  // from code_base()
  uint16_t thread;
  uint8_t bytes;  // of the word, a bit each; 0 where there is no record
  bool is_atomic;
};

// Two of each kind, since two threads may own one half of a word each.
struct Cell {
  uint32_t generation;   // a launch's or a block's; what an older one left does not count
  uint32_t initialised;  // bytes, a bit each; shared memory only
  Record writes[2];
  Record reads[2];
};

// Zeroed cells that take memory when they are first touched.
class Shadow {
 public:
  Shadow() = default;
  ~Shadow() { release(); }
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  // At least that many; more than before are all new.
  void reserve(size_t num_cells) {
    if (num_cells <= num_cells_) return;
    release();
    void* memory =
        mmap(nullptr, num_cells * sizeof(Cell), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    cells_ = static_cast<Cell*>(memory);
    num_cells_ = num_cells;
  }
  Cell* cells() const { return cells_; }

 private:
  void release() {
    if (cells_ != nullptr) munmap(cells_, num_cells_ * sizeof(Cell));
    cells_ = nullptr;
    num_cells_ = 0;
  }

  Cell* cells_ = nullptr;
  size_t num_cells_ = 0;
};

}  // namespace oprt::emulator
