// Arrays of bits, eight to a byte.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Which bit of a byte comes first: that of 128, or that of 1.
enum class BitOrder : int8_t { kBig, kLittle };

// Whether elements, of bool or integers, are not 0, as bytes of dtype uint8; missing bits are 0.
// Without an axis of the flattened array.
CX_API Array Packbits(const Array& a, std::optional<int8_t> axis = std::nullopt,
                      BitOrder bitorder = BitOrder::kBig);
// The bits of uint8, each one an element of uint8. `count`: as many of them, followed by zeros
// where there are fewer; if it is negative, all but as many.
CX_API Array Unpackbits(const Array& a, std::optional<int8_t> axis = std::nullopt,
                        std::optional<int64_t> count = std::nullopt,
                        BitOrder bitorder = BitOrder::kBig);

}  // namespace chainerx
