// Elements chosen by integers or conditions. All differentiable in what is chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

using ArrayOrScalar = std::variant<Array, Scalar>;

// choices[x], element by element, all broadcast. ValueError for an index out of range in mode
// kRaise, for which the host waits for the device.
CX_API Array Choose(const Array& x, const std::vector<Array>& choices,
                    IndexBoundsMode mode = IndexBoundsMode::kRaise);
// Of the first condition that holds, elsewhere `fallback`; all broadcast.
CX_API Array Select(const std::vector<Array>& conditions, const std::vector<ArrayOrScalar>& choices,
                    const ArrayOrScalar& fallback = Scalar{0});
// What a vector of conditions selects on an axis (of the flattened array for nullopt); it may be
// shorter. The host waits for the device.
CX_API Array Compress(const Array& condition, const Array& x,
                      std::optional<int8_t> axis = std::nullopt);
// The elements of the flattened array where the flattened condition holds.
CX_API Array Extract(const Array& condition, const Array& x);

}  // namespace chainerx
