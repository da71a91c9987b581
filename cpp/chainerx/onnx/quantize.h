// Floats as integers of 8 or 16 bits: (x - zero point) * scale.
#pragma once

#include <limits>
#include <optional>
#include <utility>

#include "chainerx/core/dtype.h"
#include "chainerx/core/error.h"
#include "chainerx/onnx/call.h"
#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/elementwise/operators.h"
#include "chainerx/ops/elementwise/tables/rounding.h"
#include "chainerx/ops/elementwise/where.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/shape/creation.h"

namespace chainerx::onnx {

inline Array ToFloat(const Array& x) { return IsFloat(x.dtype()) ? x : AsType(x, Dtype::kFloat32); }

// Rounds to the integers of a dtype.
inline Array Saturated(const Array& x, Dtype dtype) {
    if (!IsInt(dtype) || GetItemSize(dtype) > 2) {
        throw DtypeError{"the quantized dtype is ", dtype, ", expected integers of 8 or 16 bits"};
    }
    const auto [least, most] = VisitInt(dtype, []<typename T>() {
        return std::pair{static_cast<double>(std::numeric_limits<T>::min()),
                         static_cast<double>(std::numeric_limits<T>::max())};
    });
    return AsType(Clip(x, least, most), dtype);
}

struct Dynamic {
    Array x;  // uint8
    Array scale;
    Array zero;
};

// Quantizes over the range of x and 0, of all elements or along axes.
inline Dynamic QuantizedDynamically(const Array& x, const OptionalAxes& axes = std::nullopt) {
    const bool keeps = axes.has_value();
    const Array least = Minimum(AMin(x, axes, keeps), 0);
    const Array most = Maximum(AMax(x, axes, keeps), 0);
    const Array range = most - least;
    const Array scale = Where(range == 0, 1, range / 255);
    const Array zero = Saturated(Rint(Negative(least) / scale), Dtype::kUInt8);
    return {Saturated(Rint(x / scale) + ToFloat(zero), Dtype::kUInt8), scale, zero};
}

}  // namespace chainerx::onnx
