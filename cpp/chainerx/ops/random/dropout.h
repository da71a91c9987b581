// Dropout.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Sets each element to 0 with probability `ratio`, and divides the others by 1 - ratio. Without a
// key the numbers are a draw of chainerx::random. Backward draws them again, so only the RNG key is
// saved.
CX_API Array Dropout(const Array& x, double ratio = 0.5, std::optional<uint64_t> key = {});

namespace internal {
// Draws the numbers from `key`, a result of random::DrawKey.
Array DropAt(const Array& x, const Array& key, double ratio);
}  // namespace internal

}  // namespace chainerx
