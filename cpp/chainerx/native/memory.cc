// Filling.
#include <algorithm>

#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/memory.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/walk.h"

namespace chainerx::native {
namespace {

constexpr int64_t kPart = 1 << 16;  // elements of a thread

void Fill(const Array& out, const Scalar& value) {
    VisitDtype(out.dtype(), [&]<typename T>() {
        const T v = value.To<T>();
        ForEachRun(Walk<1>{AxisOrder::kByStride, out}, [v](auto& p, auto& s, int64_t n) {
            ParallelFor(CeilDiv(n, kPart), [&](int64_t i) {
                char* to = p[0] + i * kPart * s[0];
                const int64_t count = std::min(kPart, n - i * kPart);
                if (s[0] == sizeof(T)) {
                    std::fill_n(reinterpret_cast<T*>(to), count, v);
                } else {
                    for (int64_t k = 0; k < count; ++k) *reinterpret_cast<T*>(to + k * s[0]) = v;
                }
            });
        });
    });
}
CX_NATIVE_KERNEL(Fill)

}  // namespace
}  // namespace chainerx::native
