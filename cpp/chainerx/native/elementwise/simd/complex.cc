// SIMD loops over complex numbers.
#include "chainerx/native/elementwise/complex_loops.h"

#include <complex>
#include <limits>

#include "chainerx/native/elementwise/simd/complex_lanes.h"
#include "chainerx/native/elementwise/simd/loop_templates.h"
#include "chainerx/native/math/simd/math_power.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

// Absolute value. If neither the sum of squares nor its significant terms leave the normal range,
// the direct formula is used, within 1.25 ulp. The choice is per number, so that a result does not
// depend on its neighbors, which may all take the other path.
template <typename T>
inline Batch<T> AbsoluteOf(const T* x) {
    using B = Batch<T>;
    const auto z =
        xsimd::batch<std::complex<T>>::load_unaligned(reinterpret_cast<const std::complex<T>*>(x));
    const B sum = z.real() * z.real() + z.imag() * z.imag();
    const auto is_usual = (sum >= B(sizeof(T) == 4 ? T(0x1p-96f) : T(0x1p-900))) &
                          (sum <= B(std::numeric_limits<T>::max()));
    const B root = xsimd::sqrt(sum);
    if (xsimd::all(is_usual)) [[likely]]
        return root;
    return math::Where(is_usual, root, math::Hypot(z.real(), z.imag()));
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
                              kDots<float>,
                              kDots<double>};

}  // namespace chainerx::native::CX_ISA
