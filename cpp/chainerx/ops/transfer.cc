// Copying arrays between devices.
#include "chainerx/core/array.h"
#include "chainerx/core/capture_observer.h"
#include "chainerx/core/context.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kToDevice{"to_device", nullptr, Batching::kElementwise};
constexpr OpInfo kView{"view", nullptr, Batching::kElementwise};

void CopyAcross(const Array& from, const Array& to) {
    Device& src = from.device();
    Device& dst = to.device();
    const int64_t n = from.GetNBytes();
    if (src.IsHostAccessible()) {
        dst.CopyFromHost(to.raw_data(), from.raw_data(), n);
    } else if (dst.IsHostAccessible()) {
        src.CopyToHost(to.raw_data(), from.raw_data(), n);
    } else {
        dst.CopyFromPeer(from, to);
    }
}

}  // namespace

Array Array::ToDevice(Device& device) const {
    this->device().CheckAlive("to_device");
    if (&device == &this->device()) return MakeView();
    if (device.context() != this->device().context()) {
        throw ContextError{"to_device: device ", device.name(), " and the array on ",
                           this->device().name(), " are of different contexts"};
    }
    internal::CheckMayRead("an array is copied to another device");
    const Array packed = AsContiguous(internal::Detached(*this));
    Array y = EmptyUnchecked(shape(), dtype(), device);
    CopyAcross(packed, y);
    if (Record rec{kToDevice, {*this}, y}) {
        rec.Grad(0, [from = &this->device()](const Array& gy) { return gy.ToDevice(*from); });
    }
    return y;
}

Array internal::ArrayFromHost(const void* values, size_t count, Dtype dtype, const Shape& shape,
                              Device& device) {
    device.CheckAlive("from_host");
    CheckedNBytes("from_host", shape, chainerx::GetItemSize(dtype));
    if (static_cast<size_t>(shape.GetTotalSize()) != count) {
        throw DimensionError{"from_host: ", count,          " values for an array of shape ",
                             shape,         ", which has ", shape.GetTotalSize()};
    }
    Array y = EmptyUnchecked(shape, dtype, device);
    if (count != 0) device.CopyFromHost(y.raw_data(), values, y.GetNBytes());
    return y;
}

void internal::ArrayToHost(const char* op, const Array& x, Dtype dtype, void* values) {
    x.device().CheckAlive(op);
    if (IsComplex(x.dtype()) && !IsComplex(dtype)) {
        throw DtypeError{op, ": an array of dtype ", x.dtype(), " has no values of dtype ", dtype};
    }
    const Array packed = AsContiguous(AsType(Detached(x), dtype, false));
    if (packed.GetTotalSize() == 0) return;
    packed.device().CopyToHost(values, packed.raw_data(), packed.GetNBytes());
}

void internal::ThrowNotOneElement(const Array& x) {
    throw DimensionError{"item: an array of shape ", x.shape(), " has ", x.GetTotalSize(),
                         " elements, expected 1"};
}

Array Array::ToNative() const { return ToDevice(context().GetNativeBackend().GetDevice(0)); }

Array Array::MakeView() const {
    Array y = internal::Detached(*this);
    if (Record rec{kView, {*this}, y}) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

}  // namespace chainerx
