// Methods of ndarray that convert.
#include "chainerx/core/context.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

CX_METHOD(astype, "dtype: DtypeLike, copy: bool = True) -> ndarray",
          "The values in another dtype. Differentiable if both dtypes are floating point or "
          "complex. Without `copy`, the array itself if nothing changes.") {
    return Wrap(AsType(Self(self), ToDtype(a[0]), ToBool(a[1], true)));
}

CX_METHOD(to_device, "device: DeviceLike, index: int | None = None) -> ndarray",
          "The array on another device, given as for chainerx.get_device(); a view if it is there "
          "already. Differentiable.") {
    if (!Given(a[1])) return Wrap(Self(self).ToDevice(ToDevice(a[0])));
    const std::string_view backend = ToString("to_device", "device", a[0]);
    const auto index = static_cast<int>(ToInt("to_device", "index", a[1]));
    return Wrap(Self(self).ToDevice(Self(self).context().GetDevice(backend, index)));
}

CX_METHOD(copy, ") -> ndarray", "A C-contiguous copy. Differentiable.") {
    return Wrap(Copy(Self(self)));
}

CX_METHOD(view, ") -> ndarray", "A view of the whole array. Differentiable.") {
    return Wrap(MakeView(Self(self)));
}

}  // namespace
}  // namespace chainerx::python
