// Gathering along an axis, for routines that can make their indices again in backward.
#pragma once

#include <cstdint>
#include <utility>

#include "chainerx/autograd/record.h"
#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/index/indexing.h"

namespace chainerx::internal {

inline constexpr OpInfo kTake{"take", &kernels::Take::kInfo, Batching::kAxes};

// Indices of `x`, kept for backward, if they are integers on its device.
CX_API KeptOperand CheckIndices(const char* op, const char* name, const Array& x,
                                const Array& indices);

// How many elements of a contiguous bool array are true. The host waits for the device.
int64_t CountTrue(const Array& mask);

// Elements of `x` along `axis`, outside all graphs. The indices are as kernels want them.
Array TakeValues(const char* op, const Array& x, const Array& indices, int8_t axis,
                 IndexBoundsMode mode);
// Those whose place in `mask` is true, contiguous bool of the length of that axis.
Array CompressValues(const char* op, const Array& x, const Array& mask, int8_t axis);
// Where elements of a contiguous bool array of one dimension are true.
Array TruePlaces(const Array& mask);
// Zeros of `shape`, with gy added at the indices. Differentiable in gy.
CX_API Array TakeGrad(const Array& gy, const Shape& shape, int8_t axis, const Array& indices,
                      IndexBoundsMode mode);

// Take(x, indices(), axis), for `op`. Keeps the function for backward, not what it returns.
template <typename F>
Array TakeBy(const char* op, const Array& x, int8_t axis, F indices,
             IndexBoundsMode mode = IndexBoundsMode::kRaise) {
    Array y = TakeValues(op, x, indices(), axis, mode);
    if (Record rec{kTake, {x}, y}) {
        rec.Grad(0, [shape = x.shape(), axis, indices = std::move(indices), mode](const Array& gy) {
            return TakeGrad(gy, shape, axis, indices(), mode);
        });
    }
    return y;
}

// The same for those whose place in mask() is true, as CompressValues wants it.
template <typename F>
Array CompressBy(const char* op, const Array& x, int8_t axis, F mask) {
    Array y = CompressValues(op, x, mask(), axis);
    if (Record rec{kTake, {x}, y}) {
        rec.Grad(0, [shape = x.shape(), axis, mask = std::move(mask)](const Array& gy) {
            return TakeGrad(gy, shape, axis, TruePlaces(mask()), IndexBoundsMode::kRaise);
        });
    }
    return y;
}

}  // namespace chainerx::internal
