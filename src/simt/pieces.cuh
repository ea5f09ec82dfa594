// Contiguous memory at any alignment in 16-byte pieces. The pieces are aligned on the side that is written; an input that is
// aligned differently is read as two aligned vectors whose bytes are shifted together. No byte outside a row is read or written.
#pragma once

#include "simt/strided.cuh"

namespace oprt::simt {
inline namespace OPRT_SIMT {

// How one contiguous run splits: `head` bytes, `vectors` aligned pieces of 16, and the rest. Input i's pieces start `shift[i]`
// bytes after an aligned address.
template <int kInputs>
struct RunSplit {
  int64_t head;
  int64_t vectors;
  int shift[kInputs];
  bool shifted;

  int64_t edge_bytes(int64_t bytes) const { return bytes - vectors * kVectorBytes; }  // below 64
};

template <int kInputs>
RunSplit<kInputs> split_run(const void* out, const std::array<const void*, kInputs>& in, int64_t bytes) {
  const auto past_vector = [](const void* address, int64_t offset) {
    return static_cast<int>((reinterpret_cast<uintptr_t>(address) + static_cast<uintptr_t>(offset)) % kVectorBytes);
  };
  RunSplit<kInputs> split = {};
  split.head = (kVectorBytes - past_vector(out, 0)) % kVectorBytes;
  int64_t unread = 0;  // bytes that the last aligned load of an input reads past its piece
  bool starts_early = false;
  for (size_t i = 0; i < kInputs; ++i) {
    split.shift[i] = past_vector(in[i], split.head);
    if (split.shift[i] == 0) continue;
    split.shifted = true;
    starts_early = starts_early || split.shift[i] > split.head;
    if (kVectorBytes - split.shift[i] > unread) unread = kVectorBytes - split.shift[i];
  }
  if (starts_early) split.head += kVectorBytes;
  split.vectors = bytes > split.head + unread ? (bytes - split.head - unread) / kVectorBytes : 0;
  if (split.head > bytes) split.head = bytes;
  return split;
}

// Bytes [shift, shift + 16) of `low` followed by `high`, 0 <= shift < 16.
__device__ __forceinline__ uint4 shift_bytes(uint4 low, uint4 high, int shift) {
  uint32_t word[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) word[i] = (shift & 8) != 0 ? word[i + 2] : word[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) word[i] = (shift & 4) != 0 ? word[i + 1] : word[i];
  const int bits = (shift & 3) * 8;
  const auto funnel = [bits](uint32_t lower, uint32_t upper) {
    return static_cast<uint32_t>(((static_cast<uint64_t>(upper) << 32) | lower) >> bits);
  };
  return {funnel(word[0], word[1]), funnel(word[1], word[2]), funnel(word[2], word[3]), funnel(word[3], word[4])};
}

// The 16 bytes at `aligned + shift`. Reads the next vector too unless shift is 0; neighbours share it, so it stays in the cache.
__device__ __forceinline__ uint4 load_shifted(const uint4* aligned, int shift) {
  if (shift == 0) return load16<Cache::kNormal>(aligned);
  return shift_bytes(load16<Cache::kNormal>(aligned), load16<Cache::kNormal>(aligned + 1), shift);
}

// The rows of a space: its last dim, which operand 0 holds contiguously, under all others. A thread takes one piece of one row;
// rows may start at any alignment, so a row has a piece more than its size asks for unless all start aligned.
template <int N, class Index>
struct Rows {
  Dims<N, Index> outer;
  Divisor<Index> pieces;  // of a row
  Index num_pieces = 0;   // of all rows
  int64_t size = 0;       // elements of a row
  int64_t stride[N] = {};
};

// Elements of a piece; elements of 16 bytes are pieces of their own, aligned or not.
template <class T>
constexpr int kPieceSize = Vector<T>::kSize;

// Counts, for `num_pieces` of Rows.
template <int N>
int64_t count_pieces(const Space<N>& space, int piece_size, bool aligned) {
  const int64_t size = space.shape[static_cast<size_t>(space.ndim - 1)];
  const int64_t pieces = aligned ? divide_up(size, piece_size) : divide_up(size - 1, piece_size) + 1;
  return space.size() / size * pieces;
}

template <class Index, int N>
Rows<N, Index> make_rows(const Space<N>& space, int piece_size, bool aligned) {
  const int inner = space.ndim - 1;
  Rows<N, Index> rows;
  rows.outer = dims_without<Index>(space, inner);
  rows.size = space.shape[static_cast<size_t>(inner)];
  rows.num_pieces = static_cast<Index>(count_pieces(space, piece_size, aligned));
  rows.pieces = Divisor<Index>(count_pieces(space, piece_size, aligned) / (space.size() / rows.size));
  for (int i = 0; i < N; ++i) {
    const auto& strides = space.strides[static_cast<size_t>(i)];
    rows.stride[i] = strides[static_cast<size_t>(inner)];
  }
  return rows;
}

// Whether each row of operand 0 starts as its first one does, modulo a piece.
template <int N>
bool rows_start_alike(const Space<N>& space, int piece_size) {
  for (int d = 0; d < space.ndim - 1; ++d) {
    if (space.strides[0][static_cast<size_t>(d)] % piece_size != 0) return false;
  }
  return true;
}

// Elements between the last aligned address and this one.
template <class T>
__device__ __forceinline__ int elements_past_vector(const T* address) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(address) % kVectorBytes / sizeof(T));
}

// Elements [first, first + kPieceSize) of a row of `size` elements that are `stride` apart; all of them exist.
template <class T>
__device__ __forceinline__ Vector<T> load_piece(const T* row, int64_t size, int64_t first, int64_t stride) {
  constexpr int kSize = kPieceSize<T>;
  const T* address = row + first * stride;
  if (stride == 1) {
    const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(address) % kVectorBytes);
    if (shift == 0) return load_vector(address);
    // An element of 16 bytes is never shifted: where in is exactly out, its neighbours are being written.
    const int64_t bytes_before = first * static_cast<int64_t>(sizeof(T));
    const int64_t bytes_after = (size - first - kSize) * static_cast<int64_t>(sizeof(T));
    if (sizeof(T) < kVectorBytes && shift <= bytes_before && kVectorBytes - shift <= bytes_after) {
      const auto* aligned = reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(address) - shift);
      return bits_as<Vector<T>>(load_shifted(aligned, shift));
    }
  }
  Vector<T> piece;
  if (stride == 0) {
    const T value = *row;
#pragma unroll
    for (int k = 0; k < kSize; ++k) piece.value[k] = value;
  } else {
#pragma unroll
    for (int k = 0; k < kSize; ++k) piece.value[k] = address[k * stride];
  }
  return piece;
}

template <class T>
__device__ __forceinline__ void store_piece(T* address, const Vector<T>& piece) {
  if (sizeof(T) < kVectorBytes || is_vector_aligned(address)) {
    store_vector(address, piece);
  } else {
#pragma unroll
    for (int k = 0; k < kPieceSize<T>; ++k) address[k] = piece.value[k];
  }
}

}  // namespace OPRT_SIMT
}  // namespace oprt::simt
