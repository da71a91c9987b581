// Joining arrays.
#include <cstring>

#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/manipulation.h"
#include "chainerx/kernels/memory.h"
#include "chainerx/native/native_backend.h"

namespace chainerx::native {
namespace {

constexpr int64_t kParallelBytes = 512 * 1024;

void Concatenate(std::span<const ConstArrayRef> arrays, int8_t axis, const Array& out) {
    if (out.GetTotalSize() == 0) return;
    int64_t outer = 1;
    for (int8_t i = 0; i < axis; ++i) outer *= out.shape()[i];
    const int64_t row = out.GetNBytes() / outer;
    const int64_t step = row / out.shape()[axis];  // bytes of one place on the axis
    const auto copy = [&](const Array& x, char* to) {
        const int64_t length = x.shape()[axis];
        if (length == 0) return;
        if (!x.IsContiguous()) {
            CallOn<kernels::AsType>(out.device(), x,
                                    internal::MakeView(out, x.shape(), out.strides(), to));
            return;
        }
        const int64_t n = length * step;
        const char* from = x.raw_data();
        for (int64_t o = 0; o < outer; ++o, from += n, to += row) {
            std::memcpy(to, from, static_cast<size_t>(n));
        }
    };
    if (out.GetNBytes() < kParallelBytes) {
        char* to = out.raw_data();
        for (const ConstArrayRef& x : arrays) {
            copy(x, to);
            to += x.get().shape()[axis] * step;
        }
        return;
    }
    std::vector<char*> places;
    char* to = out.raw_data();
    for (const ConstArrayRef& x : arrays) {
        places.push_back(to);
        to += x.get().shape()[axis] * step;
    }
    ParallelFor(static_cast<int64_t>(arrays.size()), [&](int64_t i) {
        copy(arrays[static_cast<size_t>(i)], places[static_cast<size_t>(i)]);
    });
}
CX_NATIVE_KERNEL(Concatenate)

}  // namespace
}  // namespace chainerx::native
