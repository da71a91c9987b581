// Elements set to 0 at random.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// Each element becomes 0 with probability `ratio`, else it is divided by 1 - ratio. Without a key,
// the numbers are a draw of chainerx::random. Backward draws them again, so nothing is kept but
// where they came from.
CX_API Array Dropout(const Array& x, double ratio = 0.5, std::optional<uint64_t> key = {});

namespace internal {
// With numbers from where random::DrawKey says.
Array DropAt(const Array& x, const Array& key, double ratio);
}  // namespace internal

}  // namespace chainerx
