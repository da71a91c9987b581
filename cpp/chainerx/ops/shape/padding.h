// Padding, tiling and rolling: copies, all differentiable.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/core/scalar.h"

namespace chainerx {

enum class PadMode : int8_t {
    kConstant,
    kEdge,
    kReflect,
    kSymmetric,
    kWrap,
    kLinearRamp,  // linearly from the edge to a value
    kMaximum,     // maximum of all elements on the axis, or of the nearest ones
    kMean,
    kMedian,
    kMinimum,
    kEmpty  // uninitialized in NumPy; zeros here
};

// Widths before and after each axis.
using PadWidths = std::vector<std::pair<int64_t, int64_t>>;

// Values for the pads before and after each axis; one pair may stand for all axes.
template <typename T>
struct PadPairs {
    std::vector<std::pair<T, T>> pairs;

    const std::pair<T, T>& Of(int8_t axis) const {
        return pairs[pairs.size() == 1 ? 0 : static_cast<size_t>(axis)];
    }
    // DimensionError unless there is one pair for each axis of x, or one for all. Scalars must fit
    // its dtype.
    void Check(const char* name, const Array& x) const;
};

struct PadOptions {
    PadPairs<Scalar> values{{{0, 0}}};      // for kConstant
    PadPairs<Scalar> end_values{{{0, 0}}};  // for kLinearRamp
    // For kMaximum, kMean, kMedian and kMinimum: the number of elements; INT64_MAX for all.
    PadPairs<int64_t> stat_length{{{INT64_MAX, INT64_MAX}}};
    // for kReflect and kSymmetric: subtracts the reflected elements from twice the edge
    bool odd{false};
};

CX_API Array Pad(const Array& x, const PadWidths& widths, PadMode mode, const PadOptions& options);
CX_API Array Pad(const Array& x, const PadWidths& widths, PadMode mode = PadMode::kConstant,
                 const Scalar& value = 0);

// Repeats `x` along each axis; the shorter of shape and repeats is extended with leading ones.
CX_API Array Tile(const Array& x, const Shape& repeats);

// Moves elements cyclically along axes. There is one shift per axis; nullopt moves in the flattened
// array.
CX_API Array Roll(const Array& x, const std::vector<int64_t>& shifts,
                  const OptionalAxes& axes = std::nullopt);

}  // namespace chainerx
