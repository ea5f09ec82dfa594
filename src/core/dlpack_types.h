// DLPack's type of every OPRT_DTYPE_*, in their order.
#pragma once

#include <array>
#include <cstdint>

#include "operator_runtime/tensor.h"

namespace oprt {

struct DlpackType {
  uint8_t code;
  uint8_t bits;

  bool operator==(const DlpackType&) const = default;
};

enum : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };

inline constexpr std::array<DlpackType, 1 + OPRT_DTYPE_COMPLEX128> kDlpackTypes = {{{kDLBool, 8},
                                                                                    {kDLInt, 8},
                                                                                    {kDLInt, 16},
                                                                                    {kDLInt, 32},
                                                                                    {kDLInt, 64},
                                                                                    {kDLUInt, 8},
                                                                                    {kDLUInt, 16},
                                                                                    {kDLUInt, 32},
                                                                                    {kDLUInt, 64},
                                                                                    {kDLFloat, 16},
                                                                                    {kDLBfloat, 16},
                                                                                    {kDLFloat, 32},
                                                                                    {kDLFloat, 64},
                                                                                    {kDLComplex, 32},
                                                                                    {kDLComplex, 64},
                                                                                    {kDLComplex, 128}}};

}  // namespace oprt
