// Sets: sorted arrays of one dimension in which no element is there twice. NaN is above all
// numbers. Not differentiable. The host waits for the device, since it needs to know how many
// elements there are.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// What is asked for of Unique(), besides the values.
struct UniqueOptions {
    bool indices{false};
    bool inverse{false};
    bool counts{false};
    std::optional<int8_t> axis{};  // absent: the elements; else the slices along it
    bool equal_nan{true};          // whether NaN is there once
};

struct UniqueResult {
    Array values;
    Array indices;  // int64: where each value is first
    Array inverse;  // int64: the value of each element, or slice
    Array counts;   // int64
};

// What was not asked for is null.
CX_API UniqueResult Unique(const Array& x, const UniqueOptions& options);
CX_API Array Unique(const Array& x);

// Those of the array API standard, where no NaN equals another.
CX_API UniqueResult UniqueAll(const Array& x);
CX_API UniqueResult UniqueCounts(const Array& x);
CX_API UniqueResult UniqueInverse(const Array& x);
CX_API Array UniqueValues(const Array& x);

// bool, the shape of x: whether an element is one of `test`. NaN is none of them. `invert`: whether
// it is not.
CX_API Array Isin(const Array& x, const Array& test, bool invert = false);

// Elements of both, of either, of the first only, of one only. `assume_unique`: no array has an
// element twice.
CX_API Array Intersect1D(const Array& x1, const Array& x2, bool assume_unique = false);
CX_API Array Union1D(const Array& x1, const Array& x2);
// In the order of x1 where `assume_unique`.
CX_API Array SetDiff1D(const Array& x1, const Array& x2, bool assume_unique = false);
CX_API Array SetXor1D(const Array& x1, const Array& x2, bool assume_unique = false);

struct Intersection {
    Array values;
    Array indices1;  // int64: where each value is first in the flattened arrays
    Array indices2;
};
CX_API Intersection IntersectWithIndices(const Array& x1, const Array& x2,
                                         bool assume_unique = false);

}  // namespace chainerx
