// Loops over complex numbers.
#include "chainerx/native/complex_loops.h"

#include <complex>

#include "chainerx/native/isa/batch.h"
#include "chainerx/native/isa/math_power.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

template <typename T>
inline Batch<T> AbsoluteOf(const T* x) {
    const auto z =
        xsimd::batch<std::complex<T>>::load_unaligned(reinterpret_cast<const std::complex<T>*>(x));
    return math::Hypot(z.real(), z.imag());
}

template <typename T>
void Absolute(const void* x_data, void* out_data, int64_t n) {
    constexpr int64_t kWidth = Batch<T>::size;
    const T* x = static_cast<const T*>(x_data);
    T* out = static_cast<T*>(out_data);
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        __builtin_prefetch(reinterpret_cast<const char*>(x + 2 * i) + 1024);
        __builtin_prefetch(reinterpret_cast<const char*>(x + 2 * i) + 1088);
        AbsoluteOf(x + 2 * i).store_unaligned(out + i);
    }
    if (i == n) return;
    alignas(64) T rest[2 * kWidth] = {};
    for (int64_t k = 0; k < 2 * (n - i); ++k) rest[k] = x[2 * i + k];
    StorePart(out + i, AbsoluteOf(rest), n - i);
}

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native

extern "C" {
__attribute__((visibility("hidden"))) extern const chainerx::native::ComplexLoops CX_UNIT_ENTRY;
const chainerx::native::ComplexLoops CX_UNIT_ENTRY = {
    {&chainerx::native::CX_ISA::Absolute<float>, &chainerx::native::CX_ISA::Absolute<double>}};
}
