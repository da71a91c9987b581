// Filling, and copying with conversion.
#include <cstring>

#include "chainerx/native/native_backend.h"
#include "chainerx/native/strided.h"

namespace chainerx::native {
namespace {

void Fill(const Array& out, const Scalar& value) {
    VisitDtype(out.dtype(), [&]<typename T>() {
        const T v = value.To<T>();
        Squashed<1>{out}.ForEachRun([v](auto& p, auto& s, int64_t n) {
            if (s[0] == sizeof(T)) {
                std::fill_n(reinterpret_cast<T*>(p[0]), n, v);
            } else {
                for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(p[0] + i * s[0]) = v;
            }
        });
    });
}
CX_NATIVE_KERNEL(Fill)

void CopySameDtype(const Array& x, const Array& out) {
    VisitItemSize(x.GetItemSize(), [&]<typename T>() {
        Squashed<2>{out, x}.ForEachRun([](auto& p, auto& s, int64_t n) {
            if (s[0] == sizeof(T) && s[1] == sizeof(T)) {
                std::memcpy(p[0], p[1], static_cast<size_t>(n) * sizeof(T));
            } else {
                for (int64_t i = 0; i < n; ++i) {
                    std::memcpy(p[0] + i * s[0], p[1] + i * s[1], sizeof(T));
                }
            }
        });
    });
}

void AsType(const Array& x, const Array& out) {
    if (x.dtype() == out.dtype()) {
        CopySameDtype(x, out);
        return;
    }
    VisitDtype(x.dtype(), [&]<typename From>() {
        VisitDtype(out.dtype(), [&]<typename To>() {
            Squashed<2>{out, x}.ForEachRun([](auto& p, auto& s, int64_t n) {
                for (int64_t i = 0; i < n; ++i) {
                    *reinterpret_cast<To*>(p[0] + i * s[0]) =
                        Cast<To>(*reinterpret_cast<const From*>(p[1] + i * s[1]));
                }
            });
        });
    });
}
CX_NATIVE_KERNEL(AsType)

}  // namespace
}  // namespace chainerx::native
