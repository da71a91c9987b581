// Filling.
#include <algorithm>

#include "chainerx/kernels/memory.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/walk.h"

namespace chainerx::native {
namespace {

void Fill(const Array& out, const Scalar& value) {
    VisitDtype(out.dtype(), [&]<typename T>() {
        const T v = value.To<T>();
        ForEachRun(Walk<1>{AxisOrder::kByStride, out}, [v](auto& p, auto& s, int64_t n) {
            InParts(n, [&](int64_t begin, int64_t end) {
                char* to = p[0] + begin * s[0];
                const int64_t count = end - begin;
                if (s[0] == sizeof(T)) {
                    std::fill_n(reinterpret_cast<T*>(to), count, v);
                } else {
                    for (int64_t i = 0; i < count; ++i) *reinterpret_cast<T*>(to + i * s[0]) = v;
                }
            });
        });
    });
}
CX_NATIVE_KERNEL(Fill)

}  // namespace
}  // namespace chainerx::native
