#include "core/overlap.h"

#include <algorithm>
#include <array>
#include <utility>

namespace oprt {
namespace {

__extension__ typedef __int128 Int;  // sums of byte spans and products of coefficients

// One term of  sum(coefficient * x) = target,  0 <= x <= bound,  with a positive coefficient and bound.
struct Term {
  Int coefficient;
  Int bound;
};

// The dims of two views and the bytes of an element.
constexpr size_t kMaxTerms = 2 * OPRT_MAX_DIMS + 1;

// A list in place: execute asks about overlap, and execute never allocates.
class Terms {
 public:
  void add(Int coefficient, Int bound) { terms_[size_++] = {coefficient, bound}; }
  size_t size() const { return size_; }
  const Term& operator[](size_t k) const { return terms_[k]; }
  Term* begin() { return terms_.data(); }
  Term* end() { return terms_.data() + size_; }
  const Term* begin() const { return terms_.data(); }
  const Term* end() const { return terms_.data() + size_; }

 private:
  std::array<Term, kMaxTerms> terms_;
  size_t size_ = 0;
};

void sort_by_coefficient(Terms& terms) {
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
}

constexpr int kMaxNodes = 20000;

Int gcd(Int a, Int b) {
  while (b != 0) a = std::exchange(b, a % b);
  return a;
}

// The inverse of a modulo m, for coprime a and m.
Int inverse(Int a, Int m) {
  Int r0 = m, r1 = a % m, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const Int quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    t0 = std::exchange(t1, t0 - quotient * t1);
  }
  return t0 < 0 ? t0 + m : t0;
}

// Joins terms whose values together are the multiples of one coefficient without a gap, as the dims of a contiguous tensor are. The
// set of reachable sums stays the same.
Terms join(Terms terms) {
  sort_by_coefficient(terms);
  Terms joined;
  for (const Term& term : terms) {
    const auto fits = std::find_if(joined.begin(), joined.end(), [&](const Term& small) {
      return term.coefficient % small.coefficient == 0 && term.coefficient / small.coefficient <= small.bound + 1;
    });
    if (fits == joined.end()) {
      joined.add(term.coefficient, term.bound);
    } else {
      fits->bound += term.coefficient / fits->coefficient * term.bound;
    }
  }
  std::reverse(joined.begin(), joined.end());
  return joined;
}

// Depth first over the terms, largest coefficient first. What the later terms can reach bounds x; what their gcd divides thins it
// out.
class Search {
 public:
  explicit Search(const Terms& terms) : terms_(terms) {
    for (size_t k = terms_.size(); k-- > 0;) {
      reach_[k] = reach_[k + 1] + terms_[k].coefficient * terms_[k].bound;
      divisor_[k] = gcd(terms_[k].coefficient, divisor_[k + 1]);
      step_[k] = divisor_[k + 1] != 0 ? divisor_[k + 1] / divisor_[k] : 1;
      inverse_[k] = inverse(terms_[k].coefficient / divisor_[k], step_[k]);
    }
  }

  Overlap solve(Int target) { return solve(0, target); }

 private:
  Overlap solve(size_t k, Int target) {
    if (target < 0 || target > reach_[k]) return Overlap::kNo;
    if (k == terms_.size()) return Overlap::kYes;
    if (target % divisor_[k] != 0) return Overlap::kNo;
    const auto [coefficient, bound] = terms_[k];
    Int x = target > reach_[k + 1] ? (target - reach_[k + 1] + coefficient - 1) / coefficient : 0;
    const Int last = std::min(bound, target / coefficient);
    const Int step = step_[k];
    const Int wanted = (target / divisor_[k]) % step * inverse_[k] % step;
    x += (wanted - x % step + step) % step;
    for (; x <= last; x += step) {
      if (++nodes_ > kMaxNodes) return Overlap::kUndecided;
      const Overlap found = solve(k + 1, target - coefficient * x);
      if (found != Overlap::kNo) return found;
    }
    return Overlap::kNo;
  }

  const Terms terms_;
  std::array<Int, kMaxTerms + 1> reach_{};    // the largest sum of terms k and later
  std::array<Int, kMaxTerms + 1> divisor_{};  // the gcd of their coefficients; 0 for none
  std::array<Int, kMaxTerms> step_{};         // between values of x that leave a multiple of the later terms' gcd
  std::array<Int, kMaxTerms> inverse_{};      // of the coefficient, modulo step
  int nodes_ = 0;
};

Int absolute(Int value) { return value < 0 ? -value : value; }

// Adds a view's dims, in units of `unit` bytes; returns how far below element 0 its lowest element is.
Int add_dims(Terms& terms, const oprt_tensor_view_t& view, Int unit) {
  const Int scale = static_cast<Int>(oprt_dtype_size(view.dtype)) / unit;
  Int below = 0;
  for (int d = 0; d < view.ndim; ++d) {
    const Int stride = scale * view.strides[d];
    if (view.shape[d] <= 1 || stride == 0) continue;
    terms.add(absolute(stride), view.shape[d] - 1);
    if (stride < 0) below += absolute(stride) * (view.shape[d] - 1);
  }
  return below;
}

}  // namespace

ByteSpan byte_span(const oprt_tensor_view_t& view) {
  const auto size = static_cast<int64_t>(oprt_dtype_size(view.dtype));
  ByteSpan span{0, size};
  // Strides of a view without elements are any numbers: nothing is computed with them.
  if (std::find(view.shape, view.shape + view.ndim, 0) != view.shape + view.ndim) return {0, 0};
  for (int d = 0; d < view.ndim; ++d) {
    if (view.shape[d] == 1) continue;
    const int64_t reach = (view.shape[d] - 1) * view.strides[d] * size;
    (reach < 0 ? span.low : span.high) += reach;
  }
  return span;
}

Overlap views_overlap(const oprt_tensor_view_t& a, const void* a_data, const oprt_tensor_view_t& b, const void* b_data) {
  const ByteSpan a_span = byte_span(a);
  const ByteSpan b_span = byte_span(b);
  if (a_span.low == a_span.high || b_span.low == b_span.high) return Overlap::kNo;

  // a's element at x and b's at y share a byte where  a_data + a(x) + i = b_data + b(y) + j  for bytes i, j of an element. With b's
  // terms counted from its highest element downwards, every term is positive.
  const auto a_size = static_cast<Int>(oprt_dtype_size(a.dtype));
  const auto b_size = static_cast<Int>(oprt_dtype_size(b.dtype));
  Int distance = static_cast<Int>(reinterpret_cast<uintptr_t>(b_data)) - static_cast<Int>(reinterpret_cast<uintptr_t>(a_data));
  const bool whole_elements = a_size == b_size && distance % a_size == 0;
  const Int unit = whole_elements ? a_size : 1;
  distance /= unit;

  Terms terms;
  const Int a_below = add_dims(terms, a, unit);
  const size_t num_a = terms.size();
  const Int b_below = add_dims(terms, b, unit);
  Int b_extent = 0;
  for (size_t k = num_a; k < terms.size(); ++k) b_extent += terms[k].coefficient * terms[k].bound;
  Int target = distance + a_below + (b_extent - b_below);
  if (!whole_elements && a_size + b_size > 2) {
    terms.add(1, a_size + b_size - 2);
    target += b_size - 1;
  }
  return Search(join(terms)).solve(target);
}

Overlap writes_twice(const oprt_tensor_view_t& view) {
  Terms dims;
  for (int d = 0; d < view.ndim; ++d) {
    if (view.shape[d] == 0) return Overlap::kNo;
  }
  for (int d = 0; d < view.ndim; ++d) {
    if (view.shape[d] == 1) continue;
    if (view.strides[d] == 0) return Overlap::kYes;
    dims.add(absolute(view.strides[d]), view.shape[d] - 1);
  }
  sort_by_coefficient(dims);

  // Two indices meet where  sum(stride * difference) = 0  for differences within the bounds that are not all 0. Let t be the last
  // dim with one, say 1 + x: then the dims before it, each from -bound to bound, make up for it.
  Int extent = 0;  // of the dims before t
  for (size_t t = 0; t < dims.size(); ++t) {
    if (dims[t].coefficient <= extent) {
      Terms terms;
      for (size_t k = 0; k < t; ++k) terms.add(dims[k].coefficient, 2 * dims[k].bound);
      if (dims[t].bound > 1) terms.add(dims[t].coefficient, dims[t].bound - 1);
      const Overlap found = Search(join(terms)).solve(extent - dims[t].coefficient);
      if (found != Overlap::kNo) return found;
    }
    extent += dims[t].coefficient * dims[t].bound;
  }
  return Overlap::kNo;
}

}  // namespace oprt
