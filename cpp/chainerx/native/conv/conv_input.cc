#include "chainerx/native/conv/conv_input.h"

namespace chainerx::native {

void ConvInput::Prepare(int64_t begin, int64_t end, int64_t* phase) {
    held_ = Images(x_, begin, end);
    *phase = 0;
    if (!is_copied_) return;
    const Array x = held_;
    const int8_t last = x.ndim() - 1;
    const int64_t length = x.shape()[last];
    *phase = CeilDiv(length, step_);
    Shape shape = x.shape();
    shape[last] = *phase * step_;
    held_ = EmptyConflictFree(shape, dtype_, x.device());
    // Phase split: x[..., i::step] becomes held_[..., i * phase:].
    Strides from = x.strides();
    from[last] *= step_;
    for (int64_t i = 0; i < std::min(step_, length); ++i) {
        shape[last] = CeilDiv(length - i, step_);
        CallOn<kernels::AsType>(
            x.device(), internal::MakeView(x, shape, from, x.raw_data() + i * x.strides()[last]),
            internal::MakeView(held_, shape, held_.strides(),
                               held_.raw_data() + i * *phase * item_));
    }
}

}  // namespace chainerx::native
