// Selection of elements by integers or conditions. All are differentiable in the selected arrays.
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

// Returns choices[x], elementwise; all are broadcast. ValueError for an index out of range in mode
// kRaise, in which the host waits for the device.
CX_API Array Choose(const Array& x, const std::vector<Array>& choices,
                    IndexBoundsMode mode = IndexBoundsMode::kRaise);
// Returns the choice of the first condition that holds, else `fallback`; all are broadcast.
CX_API Array Select(const std::vector<Array>& conditions, const std::vector<ArrayOrScalar>& choices,
                    const ArrayOrScalar& fallback = Scalar{0});
// Returns the elements along an axis (of the flattened array for nullopt) where a vector of
// conditions holds; it may be shorter than the axis. The host waits for the device.
CX_API Array Compress(const Array& condition, const Array& x,
                      std::optional<int8_t> axis = std::nullopt);
// Returns the elements of the flattened array where the flattened condition holds.
CX_API Array Extract(const Array& condition, const Array& x);

}  // namespace chainerx
