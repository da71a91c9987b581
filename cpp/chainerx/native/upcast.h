// Upcasting for kernels that compute in float32 and float64 only: 16-bit floats are copied to
// float32 and back.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/kernels/strided/memory.h"

namespace chainerx::native {

template <typename T>
T* Data(const Array& x) {
    return reinterpret_cast<T*>(x.raw_data());
}

// Returns null for an array without elements.
template <typename T>
T* DataOrNull(const Array& x) {
    return x.GetTotalSize() == 0 ? nullptr : Data<T>(x);
}

// Calls f with a float or a double, by the dtype of the array.
void VisitUpcast(const Array& x, const auto& f) {
    if (x.dtype() == Dtype::kFloat32) {
        f(float{});
    } else {
        f(double{});
    }
}

inline bool IsHalf(const Array& x) { return x.GetItemSize() == 2; }

inline Array ToFloat32(const Array& x) {
    const Array y = EmptyUnchecked(x.shape(), Dtype::kFloat32, x.device());
    CallOn<kernels::AsType>(x.device(), x, y);
    return y;
}

// If `is_half`, calls f on a float32 array in place of `out`, and casts the result into `out`.
bool RunUpcast(const Array& out, bool is_half, const auto& f) {
    if (!is_half) return false;
    const Array wide = EmptyUnchecked(out.shape(), Dtype::kFloat32, out.device());
    f(wide);
    CallOn<kernels::AsType>(out.device(), wide, out);
    return true;
}
bool RunUpcast(const Array& out, const auto& f) { return RunUpcast(out, IsHalf(out), f); }

}  // namespace chainerx::native
