// The arithmetic of softmax on the cpu: one row or a part of it, and blocks of rows side by side.
#pragma once

#include <algorithm>
#include <limits>

#include "backends/cpu/convert.h"
#include "backends/cpu/exp.h"
#include "backends/cpu/sum.h"

namespace oprt::softmax {

using cpu::Compute;

// Elements of the buffers, which stay in the first- and second-level cache.
constexpr int64_t kBuffer = 4096;
constexpr int64_t kColumns = 128;
constexpr int kLanes = 32;

template <class T>
constexpr T kLowest = -std::numeric_limits<T>::infinity();

// Never NaN: a NaN is no larger than anything, and comes back through exp.
template <class T>
inline T larger(T a, T b) {
  return b > a ? b : a;
}

template <class T>
void load_line(Compute<T>* buffer, const T* in, int64_t stride, int64_t n) {
  if (stride == 1) return cpu::load_line(buffer, in, n);
  for (int64_t i = 0; i < n; ++i) buffer[i] = cpu::load(in[i * stride]);
}

template <class T>
void store_line(T* out, int64_t stride, const Compute<T>* buffer, int64_t n) {
  if (stride == 1) return cpu::store_line(out, buffer, n);
  for (int64_t i = 0; i < n; ++i) out[i * stride] = cpu::store<T>(buffer[i]);
}

template <class C>
void divide_line(C* buffer, C divisor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) buffer[i] /= divisor;
}

template <class C>
C sum_line(const C* buffer, int64_t n) {
  cpu::Cascade<C, 1> cascade;
  cpu::push_line(cascade, buffer, 1, n);
  C sum;
  cascade.finish(&sum, 1);
  return sum;
}

template <class C>
C max_line(const C* buffer, int64_t n) {
  C lanes[kLanes];
  std::fill_n(lanes, kLanes, kLowest<C>);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = larger(lanes[j], buffer[i + j]);
  }
  C result = kLowest<C>;
  for (; i < n; ++i) result = larger(result, buffer[i]);
  for (int j = 0; j < kLanes; ++j) result = larger(result, lanes[j]);
  return result;
}

template <class C>
void exp_line(C* buffer, C max, int64_t n) {
  for (int64_t i = 0; i < n; ++i) buffer[i] = cpu::exp_nonpositive(buffer[i] - max);
}

// Part of a row: `n` neighbours from element `begin` of it.
template <class T>
struct Part {
  T* out;
  int64_t out_stride;
  const T* in;
  int64_t in_stride;
  int64_t n;
};

// A part that fits the buffer, max and sum included.
template <class T>
void softmax_short(const Part<T>& part) {
  Compute<T> buffer[kBuffer];
  load_line(buffer, part.in, part.in_stride, part.n);
  exp_line(buffer, max_line(buffer, part.n), part.n);
  divide_line(buffer, sum_line(buffer, part.n), part.n);
  store_line(part.out, part.out_stride, buffer, part.n);
}

// Calls body(buffer, begin, n) with each piece of the `stride`d line `in`, loaded.
template <class T, class Body>
void for_each_chunk(const T* in, int64_t stride, int64_t size, Body&& body) {
  Compute<T> buffer[kBuffer];
  for (int64_t begin = 0; begin < size; begin += kBuffer) {
    const int64_t n = std::min(kBuffer, size - begin);
    load_line(buffer, in + begin * stride, stride, n);
    body(buffer, begin, n);
  }
}

template <class T>
Compute<T> max_part(const Part<T>& part) {
  Compute<T> max = kLowest<Compute<T>>;
  for_each_chunk(part.in, part.in_stride, part.n,
                 [&](const Compute<T>* buffer, int64_t, int64_t n) { max = larger(max, max_line(buffer, n)); });
  return max;
}

// Where out can hold the exponentials unrounded, it does; else they are computed again when they are stored.
template <class T>
constexpr bool kKeepsExp = !cpu::kIsHalf<T>;

template <class T>
Compute<T> sum_part(const Part<T>& part, Compute<T> max) {
  cpu::Cascade<Compute<T>, 1> cascade;
  for_each_chunk(part.in, part.in_stride, part.n, [&](Compute<T>* buffer, int64_t begin, int64_t n) {
    exp_line(buffer, max, n);
    if constexpr (kKeepsExp<T>) store_line(part.out + begin * part.out_stride, part.out_stride, buffer, n);
    cpu::push_line(cascade, buffer, 1, n);
  });
  Compute<T> sum;
  cascade.finish(&sum, 1);
  return sum;
}

template <class T>
void store_part(const Part<T>& part, Compute<T> max, Compute<T> sum) {
  const T* in = kKeepsExp<T> ? part.out : part.in;
  const int64_t stride = kKeepsExp<T> ? part.out_stride : part.in_stride;
  for_each_chunk(in, stride, part.n, [&](Compute<T>* buffer, int64_t begin, int64_t n) {
    if constexpr (!kKeepsExp<T>) exp_line(buffer, max, n);
    divide_line(buffer, sum, n);
    store_line(part.out + begin * part.out_stride, part.out_stride, buffer, n);
  });
}

// `width` neighbouring rows; those of out are out_step elements apart, those of in in_step.
template <class T>
struct Block {
  Part<T> first;
  int64_t out_step;
  int64_t in_step;
  int64_t width;
};

// Lines across the rows lie one after the other in the buffer.
template <class T>
void softmax_block(const Block<T>& block) {
  using C = Compute<T>;
  const Part<T>& row = block.first;
  const int64_t width = block.width;
  C buffer[2 * kBuffer];
  C max[kColumns];
  C sum[kColumns] = {};
  std::fill_n(max, width, kLowest<C>);
  for (int64_t i = 0; i < row.n; ++i) {
    C* line = buffer + i * width;
    load_line(line, row.in + i * row.in_stride, block.in_step, width);
    for (int64_t j = 0; j < width; ++j) max[j] = larger(max[j], line[j]);
  }
  for (int64_t begin = 0; begin < row.n; begin += cpu::kMaxChain) {
    C chain[kColumns] = {};
    for (int64_t i = begin; i < std::min(begin + cpu::kMaxChain, row.n); ++i) {
      C* line = buffer + i * width;
      for (int64_t j = 0; j < width; ++j) {
        line[j] = cpu::exp_nonpositive(line[j] - max[j]);
        chain[j] += line[j];
      }
    }
    for (int64_t j = 0; j < width; ++j) sum[j] += chain[j];
  }
  for (int64_t i = 0; i < row.n; ++i) {
    C* line = buffer + i * width;
    for (int64_t j = 0; j < width; ++j) line[j] /= sum[j];
    store_line(row.out + i * row.out_stride, block.out_step, line, width);
  }
}

// The same where the rows do not fit the buffer: three passes over in.
template <class T>
void softmax_tall_block(const Block<T>& block) {
  using C = Compute<T>;
  const Part<T>& row = block.first;
  const int64_t width = block.width;
  C line[kColumns];
  C max[kColumns];
  std::fill_n(max, width, kLowest<C>);
  for (int64_t i = 0; i < row.n; ++i) {
    load_line(line, row.in + i * row.in_stride, block.in_step, width);
    for (int64_t j = 0; j < width; ++j) max[j] = larger(max[j], line[j]);
  }
  const auto load_exp = [&](int64_t i) {
    load_line(line, row.in + i * row.in_stride, block.in_step, width);
    for (int64_t j = 0; j < width; ++j) line[j] = cpu::exp_nonpositive(line[j] - max[j]);
  };
  cpu::Cascade<C, kColumns> cascade;
  for (int64_t begin = 0; begin < row.n; begin += cpu::kMaxChain) {
    C chain[kColumns] = {};
    for (int64_t i = begin; i < std::min(begin + cpu::kMaxChain, row.n); ++i) {
      load_exp(i);
      for (int64_t j = 0; j < width; ++j) chain[j] += line[j];
    }
    cascade.push(chain, width);
  }
  C sum[kColumns];
  cascade.finish(sum, width);
  for (int64_t i = 0; i < row.n; ++i) {
    load_exp(i);
    for (int64_t j = 0; j < width; ++j) line[j] /= sum[j];
    store_line(row.out + i * row.out_stride, block.out_step, line, width);
  }
}

}  // namespace oprt::softmax
