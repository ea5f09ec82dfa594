#include "core/overlap.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace oprt {
namespace {

__extension__ typedef __int128 Int;  // sums of byte spans and products of coefficients

// One term of  sum(coefficient * x) = target,  0 <= x <= bound,  with a positive coefficient and bound.
struct Term {
  Int coefficient;
  Int bound;
};
using Terms = std::vector<Term>;

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
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });
  Terms joined;
  for (const Term& term : terms) {
    const auto fits = std::find_if(joined.begin(), joined.end(), [&](const Term& small) {
      return term.coefficient % small.coefficient == 0 && term.coefficient / small.coefficient <= small.bound + 1;
    });
    if (fits == joined.end()) {
      joined.push_back(term);
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
  explicit Search(Terms terms) : terms_(std::move(terms)), reach_(terms_.size() + 1, 0), divisor_(terms_.size() + 1, 0) {
    for (size_t k = terms_.size(); k-- > 0;) {
      reach_[k] = reach_[k + 1] + terms_[k].coefficient * terms_[k].bound;
      divisor_[k] = gcd(terms_[k].coefficient, divisor_[k + 1]);
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
    Int step = 1;
    if (const Int later = divisor_[k + 1]; later != 0) {
      step = later / divisor_[k];
      const Int wanted = (target / divisor_[k]) % step * inverse(coefficient / divisor_[k], step) % step;
      x += (wanted - x % step + step) % step;
    }
    for (; x <= last; x += step) {
      if (++nodes_ > kMaxNodes) return Overlap::kUndecided;
      const Overlap found = solve(k + 1, target - coefficient * x);
      if (found != Overlap::kNo) return found;
    }
    return Overlap::kNo;
  }

  const Terms terms_;
  std::vector<Int> reach_;    // the largest sum of terms k and later
  std::vector<Int> divisor_;  // the gcd of their coefficients; 0 for none
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
    terms.push_back({absolute(stride), view.shape[d] - 1});
    if (stride < 0) below += absolute(stride) * (view.shape[d] - 1);
  }
  return below;
}

}  // namespace

ByteSpan byte_span(const oprt_tensor_view_t& view) {
  const auto size = static_cast<int64_t>(oprt_dtype_size(view.dtype));
  ByteSpan span{0, size};
  for (int d = 0; d < view.ndim; ++d) {
    if (view.shape[d] == 0) return {0, 0};
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
  Terms b_terms;
  const Int b_below = add_dims(b_terms, b, unit);
  Int b_extent = 0;
  for (const Term& term : b_terms) b_extent += term.coefficient * term.bound;
  terms.insert(terms.end(), b_terms.begin(), b_terms.end());
  Int target = distance + a_below + (b_extent - b_below);
  if (!whole_elements && a_size + b_size > 2) {
    terms.push_back({1, a_size + b_size - 2});
    target += b_size - 1;
  }
  return Search(join(std::move(terms))).solve(target);
}

Overlap writes_twice(const oprt_tensor_view_t& view) {
  Terms dims;
  for (int d = 0; d < view.ndim; ++d) {
    if (view.shape[d] == 0) return Overlap::kNo;
  }
  for (int d = 0; d < view.ndim; ++d) {
    if (view.shape[d] == 1) continue;
    if (view.strides[d] == 0) return Overlap::kYes;
    dims.push_back({absolute(view.strides[d]), view.shape[d] - 1});
  }
  std::sort(dims.begin(), dims.end(), [](const Term& a, const Term& b) { return a.coefficient < b.coefficient; });

  // Two indices meet where  sum(stride * difference) = 0  for differences within the bounds that are not all 0. Let t be the last
  // dim with one, say 1 + x: then the dims before it, each from -bound to bound, make up for it.
  Int extent = 0;  // of the dims before t
  for (size_t t = 0; t < dims.size(); ++t) {
    if (dims[t].coefficient <= extent) {
      Terms terms(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(t));
      for (Term& term : terms) term.bound *= 2;
      if (dims[t].bound > 1) terms.push_back({dims[t].coefficient, dims[t].bound - 1});
      const Overlap found = Search(join(std::move(terms))).solve(extent - dims[t].coefficient);
      if (found != Overlap::kNo) return found;
    }
    extent += dims[t].coefficient * dims[t].bound;
  }
  return Overlap::kNo;
}

}  // namespace oprt
