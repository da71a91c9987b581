// Elementwise kernels of two operands.
#include "chainerx/native/native_backend.h"
#include "chainerx/native/strided.h"

namespace chainerx::native {
namespace {

template <typename F>
void Binary(const Operand& x1, const Operand& x2, const Array& out, F f) {
    VisitDtype(out.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        if (!x2.is_array()) {
            const C b = x2.scalar().To<C>();
            Squashed<2>{out, x1.array()}.ForEachRun([&](auto& p, auto& s, int64_t n) {
                for (int64_t i = 0; i < n; ++i) {
                    *reinterpret_cast<T*>(p[0] + i * s[0]) =
                        Cast<T>(f(Cast<C>(*reinterpret_cast<T*>(p[1] + i * s[1])), b));
                }
            });
            return;
        }
        Squashed<3>{out, x1.array(), x2.array()}.ForEachRun([&](auto& p, auto& s, int64_t n) {
            for (int64_t i = 0; i < n; ++i) {
                *reinterpret_cast<T*>(p[0] + i * s[0]) =
                    Cast<T>(f(Cast<C>(*reinterpret_cast<T*>(p[1] + i * s[1])),
                              Cast<C>(*reinterpret_cast<T*>(p[2] + i * s[2]))));
            }
        });
    });
}

void Add(const Operand& x1, const Operand& x2, const Array& out) {
    Binary(x1, x2, out, [](auto a, auto b) { return a + b; });
}
CX_NATIVE_KERNEL(Add)

void Multiply(const Operand& x1, const Operand& x2, const Array& out) {
    Binary(x1, x2, out, [](auto a, auto b) { return a * b; });
}
CX_NATIVE_KERNEL(Multiply)

}  // namespace
}  // namespace chainerx::native
