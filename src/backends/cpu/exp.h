// exp without branches or calls, so that a compiler vectorises loops over it. Relative error below 1.5 ulp; results gradually
// underflow to 0.
#pragma once

#include <bit>
#include <cstdint>

namespace oprt::cpu {

// e^x for x <= 0; 0 for -inf, NaN for NaN. x = n ln 2 + r with |r| <= ln 2 / 2; e^r is 1 + r + r^2 q(r), where q interpolates at
// Chebyshev nodes (relative error 1e-8, 0.2 ulp). 2^n is applied in two factors, because it may be subnormal itself.
inline float exp_nonpositive(float x) {
  constexpr float kRound = 0x1.8p23f;  // adding it leaves an integer in the low bits
  const float y = x < -110.0f ? -110.0f : x;
  const float z = y * 0x1.715476p0f + kRound;
  const float n = z - kRound;
  const float r = (y - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  const float q = 0.5f + r * (0.1666657667f + r * (0.04166655421f + r * (0.008363232884f + r * 0.001392625083f)));
  const float p = 1.0f + (r + r * r * q);
  // n + 256 is positive, so its halves need no signed shift; each half is the exponent of a normal number.
  const uint32_t biased = std::bit_cast<uint32_t>(z) - std::bit_cast<uint32_t>(kRound) + 256u;
  const uint32_t half = biased >> 1;
  const float scale1 = std::bit_cast<float>((half - 1u) << 23);
  const float scale2 = std::bit_cast<float>((biased - half - 1u) << 23);
  return p * scale1 * scale2;
}

// The same in double: q has relative error 2e-17 (0.2 ulp).
inline double exp_nonpositive(double x) {
  constexpr double kRound = 0x1.8p52;
  const double y = x < -760.0 ? -760.0 : x;
  const double z = y * 0x1.71547652b82fep0 + kRound;
  const double n = z - kRound;
  const double r = (y - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  const double r2 = r * r;
  const double q0 = 0.5000000000000001031 + r * 0.1666666666666666746;
  const double q1 = 0.04166666666662382053 + r * 0.008333333333330038197;
  const double q2 = 0.001388888891736708056 + r * 0.0001984126986317155603;
  const double q3 = 0.0000248015210578682052 + r * 2.755726827690569619e-6;
  const double q4 = 2.762020159103154879e-7 + r * 2.5100472505694996e-8;
  const double q = q0 + r2 * (q1 + r2 * (q2 + r2 * (q3 + r2 * q4)));
  const double p = 1.0 + (r + r2 * q);
  const uint64_t biased = std::bit_cast<uint64_t>(z) - std::bit_cast<uint64_t>(kRound) + 2048u;
  const uint64_t half = biased >> 1;
  const double scale1 = std::bit_cast<double>((half - 1u) << 52);
  const double scale2 = std::bit_cast<double>((biased - half - 1u) << 52);
  return p * scale1 * scale2;
}

}  // namespace oprt::cpu
