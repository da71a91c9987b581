#include "chainerx/ops/shape/embed.h"

#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

constexpr OpInfo kEmbed{"embed"};
constexpr OpInfo kExtract{"extract"};

}  // namespace

Array Embed(const Array& x, const Placement& placement) {
    Array y = EmptyUnchecked(placement.shape, x.dtype(), x.device());
    if (y.GetTotalSize() != x.GetTotalSize()) CallOn<kernels::Fill>(y.device(), y, Scalar{0});
    if (x.GetTotalSize() != 0) {
        const Array part =
            MakeView(y, x.shape(), placement.strides, y.raw_data() + placement.offset);
        CallOn<kernels::AsType>(x.device(), x, part);
    }
    if (Record rec{kEmbed, {x}, y}) {
        rec.Grad(0, [placement, shape = x.shape()](const Array& gy) {
            return Extract(gy, placement, shape);
        });
    }
    return y;
}

Array Extract(const Array& x, const Placement& placement, const Shape& shape) {
    const Array packed = AsContiguous(x);
    Array y = MakeView(packed, shape, placement.strides, packed.raw_data() + placement.offset);
    if (Record rec{kExtract, {packed}, y}) {
        rec.Grad(0, [placement](const Array& gy) { return Embed(gy, placement); });
    }
    return y;
}

}  // namespace chainerx::internal
