// Filling.
#include <algorithm>

#include "chainerx/kernels/memory.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/walk.h"

namespace chainerx::native {
namespace {

void Fill(const Array& out, const Scalar& value) {
    VisitDtype(out.dtype(), [&]<typename T>() {
        const T v = value.To<T>();
        ForEachRun(Walk<1>{AxisOrder::kByStride, out}, [v](auto& p, auto& s, int64_t n) {
            if (s[0] == sizeof(T)) {
                std::fill_n(reinterpret_cast<T*>(p[0]), n, v);
            } else {
                for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(p[0] + i * s[0]) = v;
            }
        });
    });
}
CX_NATIVE_KERNEL(Fill)

}  // namespace
}  // namespace chainerx::native
