// Methods of Array that create views and copies by calling routines.
#include "chainerx/core/array.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/routine.h"

namespace chainerx {

Array Array::At(std::span<const ArrayIndex> indices) const { return chainerx::At(*this, indices); }
Array Array::Transpose(const OptionalAxes& axes) const { return chainerx::Transpose(*this, axes); }
Array Array::Reshape(const Shape& shape) const { return chainerx::Reshape(*this, shape); }
Array Array::Ravel() const { return chainerx::Ravel(*this); }
Array Array::Flatten() const { return chainerx::Flatten(*this); }
Array Array::Squeeze(const OptionalAxes& axes) const { return chainerx::Squeeze(*this, axes); }
Array Array::Swapaxes(int8_t axis1, int8_t axis2) const {
    return chainerx::Swapaxes(*this, axis1, axis2);
}
Array Array::BroadcastTo(const Shape& shape) const { return chainerx::BroadcastTo(*this, shape); }
Array Array::Take(const Array& indices, int8_t axis, IndexBoundsMode mode) const {
    return chainerx::Take(*this, indices, axis, mode);
}
Array Array::Copy() const { return chainerx::Copy(*this); }
Array Array::AsType(Dtype dtype, bool copy) const { return chainerx::AsType(*this, dtype, copy); }

void Array::Fill(const Scalar& value) const {
    internal::CheckInPlaceOutput("fill", *this);
    internal::CheckFillFits("fill", dtype(), value);
    buffer()->MarkWritten();
    CallOn<kernels::Fill>(device(), *this, value);
}

}  // namespace chainerx
