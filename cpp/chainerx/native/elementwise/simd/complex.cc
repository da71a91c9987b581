// SIMD loops over complex numbers.
#include "chainerx/native/elementwise/complex_loops.h"

#include <complex>

#include "chainerx/native/elementwise/simd/complex_lanes.h"
#include "chainerx/native/elementwise/simd/complex_parts.h"
#include "chainerx/native/elementwise/simd/loop_templates.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
inline Batch<T> AbsoluteOf(const T* x) {
    return math::Abs(LoadParts(x));
}

template <typename T>
void Absolute(const void* x_data, void* out_data, int64_t n) {
    constexpr int64_t kWidth = Batch<T>::size;
    const T* x = static_cast<const T*>(x_data);
    T* out = static_cast<T*>(out_data);
    const int64_t ahead = ElementsAhead<T>();
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        __builtin_prefetch(x + 2 * i + ahead);
        __builtin_prefetch(x + 2 * i + kWidth + ahead);
        AbsoluteOf(x + 2 * i).store_unaligned(out + i);
    }
    if (i == n) return;
    alignas(64) T rest[2 * kWidth] = {};
    for (int64_t k = 0; k < 2 * (n - i); ++k) rest[k] = x[2 * i + k];
    StorePart(out + i, AbsoluteOf(rest), n - i);
}

template <typename T>
void Conjugate(const void* x_data, void* out_data, int64_t n) {
    constexpr int64_t kWidth = Batch<T>::size;
    const Batch<T> signs = SignsOf<T>(1);
    const T* x = static_cast<const T*>(x_data);
    T* out = static_cast<T*>(out_data);
    n *= 2;
    int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
        (Batch<T>::load_unaligned(x + i) ^ signs).store_unaligned(out + i);
    }
    if (i < n) StorePart(out + i, LoadPart(x + i, n - i) ^ signs, n - i);
}

// Sums the products of like parts and of unlike parts, two accumulators each to hide latency.
template <typename T, bool kConjugate>
std::complex<T> Dot(int64_t k, const std::complex<T>* a_data, const std::complex<T>* b_data) {
    using B = Batch<T>;
    constexpr int64_t kSize = B::size;
    const T* a = reinterpret_cast<const T*>(a_data);
    const T* b = reinterpret_cast<const T*>(b_data);
    B alike[2] = {B(T(0)), B(T(0))};
    B unlike[2] = {B(T(0)), B(T(0))};
    const auto add = [&](int i, const B& x, const B& y) {
        alike[i] = xsimd::fma(x, y, alike[i]);
        unlike[i] = xsimd::fma(x, InOrder<OtherPart>(y), unlike[i]);
    };
    const auto load = [](const T* x) { return B::load_unaligned(x); };
    const int64_t n = 2 * k;
    int64_t q = 0;
    for (; q + 2 * kSize <= n; q += 2 * kSize) {
        add(0, load(a + q), load(b + q));
        add(1, load(a + q + kSize), load(b + q + kSize));
    }
    if (q + kSize <= n) {
        add(0, load(a + q), load(b + q));
        q += kSize;
    }
    if (q < n) add(1, LoadPart(a + q, n - q), LoadPart(b + q, n - q));
    // The second sums are subtracted from the real part; for a conjugate, from the imaginary part.
    const B signs = SignsOf<T>(1);
    const B real = alike[0] + alike[1];
    const B imag = unlike[0] + unlike[1];
    const auto add_lanes = [](const B& x, const B& y) { return x + y; };
    return {FoldLanes(kConjugate ? real : real ^ signs, add_lanes),
            FoldLanes(kConjugate ? imag ^ signs : imag, add_lanes)};
}

template <typename T>
constexpr ComplexDots<T> kDots = {&Dot<T, false>, &Dot<T, true>};

}  // namespace

CX_EXPORT_LOOPS(ComplexLoops){{&Absolute<float>, &Absolute<double>},
                              {&Conjugate<float>, &Conjugate<double>},
                              {kDots<float>, kDots<double>}};

}  // namespace chainerx::native::CX_ISA
