// Set operations on sorted 1-d arrays of unique elements. NaN is greater than all numbers. Not
// differentiable. The host waits for the device, since the number of elements depends on the data.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// The optional results of Unique().
struct UniqueOptions {
    bool indices{false};
    bool inverse{false};
    bool counts{false};
    std::optional<int8_t> axis{};  // compares slices along it; by default elements
    bool equal_nan{true};          // whether all NaN count as one
};

struct UniqueResult {
    Array values;
    Array indices;  // int64: first index of each value
    Array inverse;  // int64: index of the value of each element, or slice
    Array counts;   // int64
};

// Results that were not requested are null.
CX_API UniqueResult Unique(const Array& x, const UniqueOptions& options);
CX_API Array Unique(const Array& x);

// The functions of the array API standard, for which no NaN equals another.
CX_API UniqueResult UniqueAll(const Array& x);
CX_API UniqueResult UniqueCounts(const Array& x);
CX_API UniqueResult UniqueInverse(const Array& x);
CX_API Array UniqueValues(const Array& x);

// Returns whether each element is in `test`, as bool in the shape of x; NaN never is. `invert`
// negates the result.
CX_API Array Isin(const Array& x, const Array& test, bool invert = false);

// Return the elements of both, of either, of the first only, of exactly one. `assume_unique`: no
// array has an element twice.
CX_API Array Intersect1D(const Array& x1, const Array& x2, bool assume_unique = false);
CX_API Array Union1D(const Array& x1, const Array& x2);
// Keeps the order of x1 if `assume_unique`.
CX_API Array SetDiff1D(const Array& x1, const Array& x2, bool assume_unique = false);
CX_API Array SetXor1D(const Array& x1, const Array& x2, bool assume_unique = false);

struct Intersection {
    Array values;
    Array indices1;  // int64: first index of each value in the flattened arrays
    Array indices2;
};
CX_API Intersection IntersectWithIndices(const Array& x1, const Array& x2,
                                         bool assume_unique = false);

}  // namespace chainerx
