// Creation of arrays, and copies.
#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx {

CX_API Array Full(const Shape& shape, const Scalar& value, Dtype dtype,
                  Device& device = GetDefaultDevice());
CX_API Array Full(const Shape& shape, const Scalar& value, Device& device = GetDefaultDevice());
// Copies an array that broadcasts to the shape, with its dtype, on its device. Differentiable.
CX_API Array Full(const Shape& shape, const Array& value);
CX_API Array Zeros(const Shape& shape, Dtype dtype = kDefaultFloat,
                   Device& device = GetDefaultDevice());
CX_API Array Ones(const Shape& shape, Dtype dtype = kDefaultFloat,
                  Device& device = GetDefaultDevice());
CX_API Array EmptyLike(const Array& a, Device& device);
CX_API Array FullLike(const Array& a, const Scalar& value, Device& device);
CX_API Array ZerosLike(const Array& a, Device& device);
CX_API Array OnesLike(const Array& a, Device& device);
// Creates it on the device of `a`.
inline Array EmptyLike(const Array& a) { return EmptyLike(a, a.device()); }
inline Array FullLike(const Array& a, const Scalar& value) {
    return FullLike(a, value, a.device());
}
inline Array ZerosLike(const Array& a) { return ZerosLike(a, a.device()); }
inline Array OnesLike(const Array& a) { return OnesLike(a, a.device()); }

// Counts from `start` up to `stop`. Integers are exact; anything else is computed in double.
CX_API Array Arange(const Scalar& start, const Scalar& stop, const Scalar& step, Dtype dtype,
                    Device& device = GetDefaultDevice());
// Returns int32 or float32, as the last given number; float32, too, for a start with a fraction.
CX_API Dtype ArangeDtype(const Scalar& start, const Scalar& last);
// The default step is 1, the default start 0, the default dtype that of ArangeDtype().
inline Array Arange(const Scalar& start, const Scalar& stop, const Scalar& step) {
    return Arange(start, stop, step, ArangeDtype(start, step));
}
inline Array Arange(const Scalar& start, const Scalar& stop) {
    return Arange(start, stop, 1, start.dtype());
}
inline Array Arange(const Scalar& stop) { return Arange(0, stop, 1, stop.dtype()); }
inline Array Arange(const Scalar& stop, Dtype dtype, Device& device = GetDefaultDevice()) {
    return Arange(0, stop, 1, dtype, device);
}
CX_API Array Linspace(double start, double stop, int64_t num = 50, bool endpoint = true,
                      Dtype dtype = kDefaultFloat, Device& device = GetDefaultDevice());
// Interpolates between the elements of two arrays, which broadcast, along a new axis. The default
// dtype is that of both, float32 for integers. Differentiable.
CX_API Array Linspace(const Array& start, const Array& stop, int64_t num = 50, bool endpoint = true,
                      std::optional<Dtype> dtype = std::nullopt, int8_t axis = 0);
// Returns ones on diagonal k, zeros elsewhere.
CX_API Array Eye(int64_t rows, int64_t columns, int64_t k, Dtype dtype,
                 Device& device = GetDefaultDevice(), const char* op = "eye");
inline Array Eye(int64_t n, Dtype dtype = Dtype::kFloat64, Device& device = GetDefaultDevice()) {
    return Eye(n, n, 0, dtype, device);
}
CX_API Array Identity(int64_t n, Dtype dtype = kDefaultFloat, Device& device = GetDefaultDevice());
// Returns ones on and below diagonal k.
CX_API Array Tri(int64_t rows, int64_t columns, int64_t k, Dtype dtype,
                 Device& device = GetDefaultDevice());
inline Array Tri(int64_t n, Dtype dtype = kDefaultFloat, Device& device = GetDefaultDevice()) {
    return Tri(n, n, 0, dtype, device);
}

// Returns a C-contiguous copy, differentiable.
CX_API Array Copy(const Array& x);
// Differentiable if both dtypes are. Unless `copy`, returns the same array if nothing changes.
CX_API Array AsType(const Array& x, Dtype dtype, bool copy = true);
// Returns the same array if it is already contiguous.
CX_API Array AsContiguous(const Array& x);

}  // namespace chainerx
