// Creation routines.
#include "chainerx/ops/creation.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(array,
           "object: Any, dtype: DtypeLike | None = None, copy: bool = True, "
           "device: DeviceLike | None = None) -> ndarray",
           "Makes an array from numbers, lists, NumPy arrays or buffers.\n\n"
           "Args:\n"
           "    object: What numpy.asarray() takes, or an ndarray, whose graph is kept.\n"
           "    dtype: Default: as NumPy chooses.\n"
           "    copy (bool): If False, a NumPy array's memory is shared where possible.\n"
           "    device: Default: the default device.\n"
           "Returns:\n    ndarray: On the device.") {
    const bool copy = ToBool(a[2], true);
    if (IsNdArray(a[0])) {
        const Array& x = Self(a[0]);
        return Wrap(AsType(x, ToDtypeOr(a[1], x.dtype()), copy));
    }
    std::optional<Dtype> dtype;
    if (Given(a[1])) dtype = ToDtype(a[1]);
    return Wrap(FromNumpy(a[0], dtype, copy, ToDevice(a[3])));
}

CX_ROUTINE(empty,
           "shape: ShapeLike, dtype: DtypeLike | None = None, device: DeviceLike | None = None) -> "
           "ndarray",
           "An uninitialized array; float32 by default.") {
    return Wrap(
        Empty(ToShape("empty", "shape", a[0]), ToDtypeOr(a[1], kDefaultFloat), ToDevice(a[2])));
}

CX_ROUTINE(ones,
           "shape: ShapeLike, dtype: DtypeLike | None = None, device: DeviceLike | None = None) -> "
           "ndarray",
           "An array of ones; float32 by default.") {
    return Wrap(
        Ones(ToShape("ones", "shape", a[0]), ToDtypeOr(a[1], kDefaultFloat), ToDevice(a[2])));
}

CX_ROUTINE(zeros,
           "shape: ShapeLike, dtype: DtypeLike | None = None, *, device: DeviceLike | None = None) "
           "-> ndarray",
           "An array of zeros; float32 by default.") {
    return Wrap(
        Zeros(ToShape("zeros", "shape", a[0]), ToDtypeOr(a[1], kDefaultFloat), ToDevice(a[2])));
}

CX_ROUTINE(to_numpy, "array: ndarray, copy: bool = True) -> numpy.ndarray",
           "The values as a NumPy array. Without `copy`, shares the memory of an array on a native "
           "device.") {
    return ToNumpy(ToArray("to_numpy", "array", a[0]), ToBool(a[1], true));
}

}  // namespace
}  // namespace chainerx::python
