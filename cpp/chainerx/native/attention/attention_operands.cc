#include "chainerx/native/attention/attention_operands.h"

#include "chainerx/kernels/strided/memory.h"

namespace chainerx::native {

Array WithElementStrides(const Array& x) {
    for (int64_t stride : x.strides()) {
        if (stride % x.GetItemSize() == 0) continue;
        const Array y = EmptyUnchecked(x.shape(), x.dtype(), x.device());
        CallOn<kernels::AsType>(x.device(), x, y);
        return y;
    }
    return internal::Detached(x);
}

}  // namespace chainerx::native
