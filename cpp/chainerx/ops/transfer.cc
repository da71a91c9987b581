// Moving arrays between devices.
#include "chainerx/autograd/record.h"
#include "chainerx/core/array.h"
#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/ops/creation.h"

namespace chainerx {
namespace {

void CopyAcross(const Array& from, const Array& to) {
    Device& src = from.device();
    Device& dst = to.device();
    const int64_t n = from.GetNBytes();
    if (src.IsHostAccessible()) {
        dst.CopyFromHost(to.raw_data(), from.raw_data(), n);
    } else if (dst.IsHostAccessible()) {
        src.CopyToHost(to.raw_data(), from.raw_data(), n);
    } else {
        dst.CopyFromPeer(to.raw_data(), src, from.raw_data(), n);
    }
}

}  // namespace

Array Array::ToDevice(Device& device) const {
    if (&device == &this->device()) return MakeView();
    if (device.context() != this->device().context()) {
        throw ContextError{"to_device: device ", device.name(), " and the array on ",
                           this->device().name(), " are of different contexts"};
    }
    const Array packed = AsContiguous(internal::Detached(*this));
    Array y = EmptyUnchecked(shape(), dtype(), device);
    CopyAcross(packed, y);
    if (Record rec{"to_device", {*this}, y}) {
        rec.Grad(0, [from = &this->device()](const Array& gy) { return gy.ToDevice(*from); });
    }
    return y;
}

Array Array::ToNative() const { return ToDevice(context().GetNativeBackend().GetDevice(0)); }

Array Array::MakeView() const {
    Array y = internal::Detached(*this);
    if (Record rec{"view", {*this}, y}) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

}  // namespace chainerx
