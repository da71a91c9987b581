// Conversion between elements and bits, eight to a byte.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// The bit of a byte that comes first: the most (kBig) or the least significant one.
enum class BitOrder : int8_t { kBig, kLittle };

// Packs elements of bool or integers, which count as 1 unless they are 0, into bytes of dtype
// uint8; missing bits are 0. Without an axis the array is flattened.
CX_API Array Packbits(const Array& a, std::optional<int8_t> axis = std::nullopt,
                      BitOrder bitorder = BitOrder::kBig);
// Unpacks the bits of uint8, each into an element of uint8. `count` limits the number of bits, and
// pads them with zeros; a negative count drops that many at the end.
CX_API Array Unpackbits(const Array& a, std::optional<int8_t> axis = std::nullopt,
                        std::optional<int64_t> count = std::nullopt,
                        BitOrder bitorder = BitOrder::kBig);

}  // namespace chainerx
