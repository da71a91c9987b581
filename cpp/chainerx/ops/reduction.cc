#include "chainerx/ops/reduction.h"

#include "chainerx/autograd/record.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

// `reduced`, which lacks `axes`, as an array of x's rank, with length 1 on them.
Shape KeepdimsShape(const Shape& shape, const Axes& axes) { return ReduceShape(shape, axes, true); }

}  // namespace

Array Sum(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Axes sorted = NormalizeAxes("sum", axes, x.ndim());
    const Dtype dtype = IsDifferentiable(x.dtype()) ? x.dtype() : Dtype::kInt64;
    const Array reduced = EmptyUnchecked(ReduceShape(x.shape(), sorted, false), dtype, x.device());
    CallOn<kernels::Sum>(x.device(), x, sorted, reduced);
    Array y = reduced;
    if (keepdims) y = Reshape(reduced, KeepdimsShape(x.shape(), sorted));
    if (Record rec{"sum", {x}, y}) {
        rec.Grad(0, [shape = x.shape(), sorted](const Array& gy) {
            return BroadcastTo(Reshape(gy, KeepdimsShape(shape, sorted)), shape);
        });
    }
    return y;
}

Array internal::SumTo(const Array& x, const Shape& shape) {
    Axes axes;
    const int8_t lead = x.ndim() - shape.ndim();
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (i < lead || (shape[i - lead] == 1 && x.shape()[i] != 1)) axes.push_back(i);
    }
    if (axes.empty()) return x;
    return Reshape(Sum(x, axes), shape);
}

}  // namespace chainerx
