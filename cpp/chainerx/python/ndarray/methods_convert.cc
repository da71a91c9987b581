// Conversion methods of ndarray.
#include "chainerx/core/context.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/casting.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/element_order.h"

namespace chainerx::python {
namespace {

CX_METHOD(astype,
          "dtype: DtypeLike, copy: bool = True, *, casting: str = 'unsafe', "
          "order: str | None = 'K') -> ndarray",
          "Casts to another dtype. Differentiable if both dtypes are floating point or complex. "
          "Without ``copy``, returns the array itself if nothing changes.\n\n"
          "Raises:\n"
          "    DtypeError: If ``casting`` ('no', 'equiv', 'safe', 'same_kind') does not allow it.\n"
          "    ValueError: If ``casting`` is unknown.") {
    const Dtype dtype = ToDtype(a[0]);
    if (a[2] != nullptr) CheckCasting("astype", "the array", Self(self).dtype(), dtype, a[2]);
    return Wrap(InOrder("astype", AsType(Self(self), dtype, ToBool(a[1], true)), a[3]));
}

CX_METHOD(
    to_device, "device: DeviceLike, index: int | None = None, *, stream: None = None) -> ndarray",
    "Copies the array to another device, given as for chainerx.get_device(); a view if it is "
    "already there. Differentiable.\n\n"
    "Args:\n"
    "    device (str or Device): The device, or the name of its backend.\n"
    "    index (int): Index of the device in the backend.\n"
    "    stream: Must be None, as devices order copies themselves; for the array API standard.\n"
    "Raises:\n"
    "    ValueError: If a stream is given.") {
    if (Given(a[2])) {
        throw ValueError{"to_device: stream is a ", Py_TYPE(a[2])->tp_name,
                         ", expected None: devices order copies themselves"};
    }
    if (!Given(a[1])) return Wrap(Self(self).ToDevice(ToDevice(a[0])));
    const std::string_view backend = ToString("to_device", "device", a[0]);
    const auto index = static_cast<int>(ToInt("to_device", "index", a[1]));
    return Wrap(Self(self).ToDevice(Self(self).context().GetDevice(backend, index)));
}

CX_METHOD(copy, "order: str | None = 'C') -> ndarray",
          "A copy, in memory order 'C', 'F', 'A' or 'K'. Differentiable.") {
    return Wrap(CopyInOrder(Self(self), a[0]));
}

CX_METHOD(
    view, "dtype: DtypeLike | None = None) -> ndarray",
    "A view of the whole array. Differentiable.\n\n"
    "Args:\n"
    "    dtype: Reinterprets the bytes as this dtype, outside all graphs. If the item size "
    "differs, the length\n"
    "        of the last axis, which must be contiguous, changes. A view of bool is read-only.\n"
    "Raises:\n"
    "    ValueError: If the last axis is not contiguous, or its bytes do not divide into "
    "elements.\n"
    "    DtypeError: If the dtype is bool, and not that of the array.") {
    if (!Given(a[0])) return Wrap(MakeView(Self(self)));
    return Wrap(ViewAs(Self(self), ToDtype(a[0])));
}

}  // namespace
}  // namespace chainerx::python
