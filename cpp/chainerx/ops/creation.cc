#include "chainerx/ops/creation.h"

#include "chainerx/autograd/record.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx {

Array Full(const Shape& shape, const Scalar& value, Dtype dtype, Device& device) {
    Array y = Empty(shape, dtype, device);
    CallOn<kernels::Fill>(device, y, value);
    return y;
}

Array Full(const Shape& shape, const Scalar& value, Device& device) {
    return Full(shape, value, value.dtype(), device);
}

Array Zeros(const Shape& shape, Dtype dtype, Device& device) {
    return Full(shape, 0, dtype, device);
}

Array Ones(const Shape& shape, Dtype dtype, Device& device) {
    return Full(shape, 1, dtype, device);
}

Array EmptyLike(const Array& a, Device& device) {
    return EmptyUnchecked(a.shape(), a.dtype(), device);
}

Array FullLike(const Array& a, const Scalar& value, Device& device) {
    return Full(a.shape(), value, a.dtype(), device);
}

Array ZerosLike(const Array& a, Device& device) { return FullLike(a, 0, device); }
Array OnesLike(const Array& a, Device& device) { return FullLike(a, 1, device); }

Array AsType(const Array& x, Dtype dtype, bool copy) {
    if (!copy && x.dtype() == dtype) return x;
    Array y = EmptyUnchecked(x.shape(), dtype, x.device());
    CallOn<kernels::AsType>(x.device(), x, y);
    // The engine casts the gradient back.
    if (Record rec{"astype", {x}, y}) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

Array Copy(const Array& x) {
    Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
    CallOn<kernels::AsType>(x.device(), x, y);
    if (Record rec{"copy", {x}, y}) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

Array AsContiguous(const Array& x) { return x.IsContiguous() ? x : Copy(x); }

}  // namespace chainerx
