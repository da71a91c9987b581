// Gather along an axis, for routines that can recompute their indices in backward.
#pragma once

#include <cstdint>
#include <utility>

#include "chainerx/autograd/record.h"
#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/index/indexing.h"

namespace chainerx::internal {

inline constexpr OpInfo kTake{"take", &kernels::Take::kInfo, Batching::kAxes};

// Checks that the indices of `x` are integers on its device, and saves them for backward.
CX_API KeptOperand CheckIndices(const char* op, const char* name, const Array& x,
                                const Array& indices);

// Counts the true elements of a contiguous bool array. The host waits for the device.
int64_t CountTrue(const Array& mask);

// Returns elements of `x` along `axis`, outside all graphs. The indices are as kernels take them.
Array TakeValues(const char* op, const Array& x, const Array& indices, int8_t axis,
                 IndexBoundsMode mode);
// Returns elements whose index is true in `mask`, contiguous bool of the length of that axis.
Array CompressValues(const char* op, const Array& x, const Array& mask, int8_t axis);
// Returns the indices of true elements of a contiguous bool array of one dimension.
Array TruePlaces(const Array& mask);
// Returns zeros of `shape`, with gy added at the indices. Differentiable in gy.
CX_API Array TakeGrad(const Array& gy, const Shape& shape, int8_t axis, const Array& indices,
                      IndexBoundsMode mode);

// Returns Take(x, indices(), axis), for `op`. Backward saves the function, not its result.
Array TakeBy(const char* op, const Array& x, int8_t axis, auto indices,
             IndexBoundsMode mode = IndexBoundsMode::kRaise) {
    Array y = TakeValues(op, x, indices(), axis, mode);
    if (Record rec{kTake, {x}, y}) {
        rec.Grad(0, [shape = x.shape(), axis, indices = std::move(indices), mode](const Array& gy) {
            return TakeGrad(gy, shape, axis, indices(), mode);
        });
    }
    return y;
}

// The same for elements whose index is true in mask(), which must suit CompressValues.
Array CompressBy(const char* op, const Array& x, int8_t axis, auto mask) {
    Array y = CompressValues(op, x, mask(), axis);
    if (Record rec{kTake, {x}, y}) {
        rec.Grad(0, [shape = x.shape(), axis, mask = std::move(mask)](const Array& gy) {
            return TakeGrad(gy, shape, axis, TruePlaces(mask()), IndexBoundsMode::kRaise);
        });
    }
    return y;
}

}  // namespace chainerx::internal
