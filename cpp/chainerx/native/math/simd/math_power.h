// math:: powers and roots.
#pragma once

#include <limits>

#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/math/simd/math_explog.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {
namespace math {

template <typename T>
inline xsimd::batch_bool<T> IsOddInteger(const Batch<T>& x) {
    const Batch<T> half = x * Batch<T>(T(0.5));
    return (xsimd::trunc(x) == x) & (xsimd::trunc(half) != half);
}

// Adds to y = |x1|^x2 the sign and the special cases of the C standard that do not follow from
// exp(x2 * log(x1)).
template <typename T>
inline Batch<T> PowBorders(const Batch<T>& x1, const Batch<T>& x2, const Batch<T>& magnitude) {
    using B = Batch<T>;
    const B one(T(1));
    const B zero(T(0));
    const B infinity{T(__builtin_inf())};
    const B a = xsimd::abs(x1);
    B y = Where((a == one) & (xsimd::abs(x2) == infinity), one, magnitude);
    const auto negative = Copysign(one, x1) < zero;
    y = Where(negative & IsOddInteger(x2), Negate(y), y);
    const auto imaginary = (x1 < zero) & (a < infinity) & (xsimd::trunc(x2) != x2);
    y = Where(imaginary, B(T(__builtin_nan(""))), y);
    y = Where((x1 == x1) & (x2 == x2), y, x1 + x2);
    return Where((x2 == zero) | (x1 == one), one, y);
}

// |x1|^x2, given `magnitude`, which is right for finite |x1| > 0 and finite x2.
inline BatchF PowAtBorders(const BatchF& x1, const BatchF& x2, const BatchF& magnitude) {
    const BatchF a = xsimd::abs(x1);
    const BatchF zero(0.0f);
    const BatchF infinity(__builtin_inff());
    // The logarithm of 0 and infinity is infinite; its product with 0 is not used.
    const BatchF at_zero = Where(x2 > zero, zero, infinity);
    const BatchF at_infinity = Where(x2 > zero, infinity, zero);
    BatchF y = Where(a == zero, at_zero, Where(a == infinity, at_infinity, magnitude));
    y = Where((xsimd::abs(x2) == infinity) & (a != BatchF(1.0f)),
              Where((x2 > zero) == (a > BatchF(1.0f)), infinity, zero), y);
    return PowBorders(x1, x2, y);
}

struct PairF {
    BatchF high;
    BatchF low;
};

// 2^(high + low), for exponents at most slightly out of range.
inline BatchF Exp2OfTwo(const PairF& x) {
    const BatchF n = NearestTo(x.high + x.low, 1.0f);
    return ScaleByPow2(Exp2Core((x.high - n) + x.low), n);
}

#if defined(__FMA__) || defined(__aarch64__)
// For each sixteenth of [0.734, 1.469), in the order of mantissas: the reciprocal of a number in
// it, with so few bits that its product with a number minus 1 is a float; and minus the
// reciprocal's binary logarithm in two parts, the first with 15 fractional bits. Around 1 both are
// exact.
alignas(64) inline constexpr float kPowInverse[16] = {
    1.3125f, 1.25f,   1.25f,  1.1875f,  1.125f,  1.125f, 1.0625f,  1.0f,
    1.0f,    0.9375f, 0.875f, 0.84375f, 0.8125f, 0.75f,  0.71875f, 0.6875f};
alignas(64) inline constexpr float kPowLog[16] = {
    -0x1.91b8p-2f, -0x1.49a8p-2f, -0x1.49a8p-2f, -0x1.fbcp-3f, -0x1.5cp-3f, -0x1.5cp-3f,
    -0x1.664p-4f,  0.0f,          0.0f,          0x1.7d6p-4f,  0x1.8a9p-3f, 0x1.f6p-3f,
    0x1.32cp-2f,   0x1.a9p-2f,    0x1.e7ep-2f,   0x1.14c4p-1f};
alignas(64) inline constexpr float kPowLogLow[16] = {-0x1.d448f8p-17f,
                                                     0x1.ed0cbap-20f,
                                                     0x1.ed0cbap-20f,
                                                     -0x1.6b9026p-19f,
                                                     -0x1.a39fbep-19f,
                                                     -0x1.a39fbep-19f,
                                                     0x1.20a6dep-21f,
                                                     0.0f,
                                                     0.0f,
                                                     0x1.25b3eep-22f,
                                                     -0x1.9fd502p-17f,
                                                     -0x1.3ab7cep-18f,
                                                     -0x1.1c8f12p-22f,
                                                     -0x1.a39fbep-20f,
                                                     -0x1.40358ep-19f,
                                                     0x1.60fe68p-17f};

// table[i] by the low four bits of i.
inline BatchF LookUp(const float (&table)[16], const Batch<uint32_t>& i) {
#if defined(CX_ISA_AVX512)
    return _mm512_permutexvar_ps(i, _mm512_load_ps(table));
#elif defined(CX_ISA_AVX2)
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(table), i);
    const __m256 high = _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), i);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(i, 28)));
#else
    alignas(64) uint32_t index[BatchF::size];
    alignas(64) float values[BatchF::size];
    i.store_aligned(index);
    for (size_t k = 0; k < BatchF::size; ++k) values[k] = table[index[k] & 15];
    return BatchF::load_aligned(values);
#endif
}

// log2(x / 2^lift) for normal positive x, to 2^-34 relative.
inline PairF Log2InTwo(const BatchF& x, const BatchF& lift) {
    using Bits = Batch<uint32_t>;
    const Bits moved = xsimd::bitwise_cast<uint32_t>(x) + Bits(0x3f800000u - 0x3f3c0000u);
    const BatchF k = xsimd::bitwise_cast<float>((moved >> 23) | Bits(0x4b000000u)) -
                     (lift + BatchF(0x1p23f + 127.0f));
    const BatchF m = xsimd::bitwise_cast<float>((moved & Bits(0x007fffffu)) + Bits(0x3f3c0000u));
    const Bits sixteenth = moved >> 19;
    const BatchF r = xsimd::fms(m, LookUp(kPowInverse, sixteenth), BatchF(1.0f));
    // log(1 + r) = w + w_low, where w is r - r^2 / 2 rounded
    const BatchF half(-0.5f);
    const BatchF z = r * r;
    const BatchF w = xsimd::fma(z, half, r);
    const BatchF rest = xsimd::fma(xsimd::fms(r, r, z), half, xsimd::fma(z, half, r - w));
    const BatchF cubic = Poly(r, 0x1.555546p-2, -0x1.fffec4p-3, 0x1.9a6342p-3, -0x1.590dbep-3);
    const BatchF w_low = xsimd::fma(z * r, cubic, rest);
    const BatchF log2e(0x1.715476p+0f);
    const BatchF whole = k + LookUp(kPowLog, sixteenth);
    const BatchF high = xsimd::fma(w, log2e, whole);
    // whole - high is a float, since |w log2e| < 1/16 if high is below 1/16, and 0 near 1.
    const BatchF low = xsimd::fma(w, log2e, whole - high) + LookUp(kPowLogLow, sixteenth);
    return {high, xsimd::fma(w_low, log2e, xsimd::fma(w, BatchF(0x1.4ae0cp-26f), low))};
}

inline PairF Times(const PairF& x, const BatchF& y) {
    const BatchF high = x.high * y;
    return {high, xsimd::fma(x.low, y, xsimd::fms(x.high, y, high))};
}
// For any x1 and x2; bits equal those of Pow() where it applies.
[[gnu::noinline]] inline BatchF PowOfAny(const BatchF& x1, const BatchF& x2) {
    const BatchF zero(0.0f);
    const BatchF a = xsimd::abs(x1);
    const auto denormal = a < BatchF(0x1p-126f);
    const PairF log =
        Log2InTwo(Where(denormal, a * BatchF(0x1p23f), a), Where(denormal, BatchF(23.0f), zero));
    const PairF product = Times(log, x2);
    const BatchF bounded = Clamp(product.high, -200.0f, 200.0f);
    const BatchF low = Where(bounded == product.high, product.low, zero);
    return PowAtBorders(x1, x2, Exp2OfTwo({bounded, low}));
}
// 2^(x2 log2(x1)) in double-float arithmetic: little more than 1 ulp of error. Inlined against the
// compiler's choice: a call per batch takes a third as long as the whole loop.
[[gnu::always_inline]] inline BatchF Pow(const BatchF& x1, const BatchF& x2) {
    const PairF product = Times(Log2InTwo(x1, BatchF(0.0f)), x2);
    const auto is_plain = (x1 >= BatchF(0x1p-126f)) & (x1 < BatchF(__builtin_inff())) &
                          (xsimd::abs(product.high) < BatchF(200.0f));
    if (!xsimd::all(is_plain)) [[unlikely]]
        return PowOfAny(x1, x2);
    return Exp2OfTwo(product);
}
#else
// x2 log2(|x1|) in double, which needs no FMA.
inline BatchD Log2Times(const BatchD& a, const BatchD& x2) {
    return Clamp(x2 * Log2Short(a), -200.0, 200.0);
}
inline BatchF Pow(const BatchF& x1, const BatchF& x2) {
    const PairD a = Widen(xsimd::abs(x1));
    const PairD b = Widen(x2);
    const PairD product{Log2Times(a.low, b.low), Log2Times(a.high, b.high)};
    const BatchF high = Narrow(product);
    const PairD seen = Widen(high);
    const BatchF low = Narrow({product.low - seen.low, product.high - seen.high});
    return PowAtBorders(x1, x2, Exp2OfTwo({high, low}));
}
#endif

// log|x1| in double-double, to about 2^-66, times x2, likewise.
inline BatchD Pow(const BatchD& x1, const BatchD& x2) {
    using xsimd::fma;
    const BatchD a = xsimd::abs(x1);
    const LogParts p = SplitForLog(a);
    // s = f / (2 + f)
    const BatchD b = p.f + BatchD(2.0);
    const BatchD b_low = p.f - (b - BatchD(2.0));
    const BatchD s = p.f / b;
    const BatchD back = s * b;
    const BatchD s_low = (((p.f - back) - ProductError(s, b, back)) - s * b_low) / b;
    // log(1 + f) = 2 s + 2/3 s^3 + s^5 P(s^2)
    const BatchD z = s * s;
    const BatchD z_low = fma(s + s, s_low, ProductError(s, s, z));
    const BatchD c = z * s;
    const BatchD c_low = fma(z_low, s, fma(z, s_low, ProductError(z, s, c)));
    const BatchD third(0x1.5555555555555p-1);
    const BatchD t = third * c;
    const BatchD t_low =
        fma(third, c_low, fma(BatchD(0x1.5555555555555p-55), c, ProductError(third, c, t)));
    const BatchD tail = c * z *
                        Poly(z, 0x1.999999999999ap-2, 0x1.2492492492525p-2, 0x1.c71c71c6e9a42p-3,
                             0x1.745d177b6c6aap-3, 0x1.3b13957be1f79p-3, 0x1.1118d9a133a3cp-3,
                             0x1.df792d596b1cfp-4, 0x1.e0533c845aff3p-4);
    const BatchD two_s = s + s;
    const BatchD high = two_s + t;
    const BatchD low = ((two_s - high) + t) + (s_low + s_low + t_low + tail);
    // + k ln 2; |k ln 2| is 0 or exceeds |high|
    const BatchD k_ln2 = p.k * BatchD(0x1.62e42fefa3800p-1);
    const BatchD log_high = k_ln2 + high;
    const BatchD rest = Where(p.k == BatchD(0.0), BatchD(0.0), (k_ln2 - log_high) + high);
    const BatchD log_low = fma(p.k, BatchD(0x1.ef35793c76730p-45), low + rest);
    const BatchD log = LogBorders(a, log_high);
    const BatchD product = x2 * log;
    const BatchD bounded = Clamp(product, -800.0, 800.0);
    // In special cases this is inf - inf; there is no low part then.
    const BatchD raw_low = fma(x2, log_low, ProductError(x2, log, product));
    const BatchD product_low =
        Where((bounded == product) & (xsimd::abs(raw_low) < BatchD(1.0)), raw_low, BatchD(0.0));
    const Reduced<double> reduced = ReduceByLn2(bounded);
    const BatchD power = Expm1Core(reduced.r + product_low) + BatchD(1.0);
    return PowBorders(x1, x2, ScaleByPow2(power, reduced.n));
}

// About 1 / cbrt(a) for normal positive a, to within 1/10: divides the bits, exponent and mantissa,
// by three.
inline BatchF InverseCbrtNear(const BatchF& a) {
    const BatchF bits = xsimd::to_float(xsimd::bitwise_cast<int32_t>(a));
    const BatchF third(-0x1.555556p-2f);
    return xsimd::bitwise_cast<float>(
        xsimd::to_int(xsimd::fma(bits, third, BatchF(0x1.5287dap30f))));
}
inline BatchD InverseCbrtNear(const BatchD& a) {
    // Uses the upper 32 bits only, as integer-valued doubles, since AVX2 converts no 64-bit
    // integers.
    const auto whole =
        (xsimd::bitwise_cast<uint64_t>(a) >> 32) | Batch<uint64_t>(0x4330000000000000u);
    const BatchD bits = xsimd::bitwise_cast<double>(whole) - BatchD(0x1p52);
    const BatchD y =
        xsimd::fma(bits, BatchD(-0x1.5555555555555p-2), BatchD(0x1p52 + 0x1.54fba5e4p30));
    return xsimd::bitwise_cast<double>(xsimd::bitwise_cast<uint64_t>(y) << 32);
}

// With e = 1 - a r^3, cbrt(a) is a r^2 (1 - e)^(-2/3), whose second factor is 1 + e P(e) with P
// minimax for |e| < 0.1022. If a is zero, so is the first factor.
inline BatchF CbrtOfNormal(const BatchF& a) {
    const BatchF r = InverseCbrtNear(a);
    const BatchF root = a * (r * r);
    const BatchF e = xsimd::fnma(root, r, BatchF(1.0f));
    return xsimd::fma(
        root * e,
        Poly(e, 0x1.555558p-1f, 0x1.1c6f4ep-1f, 0x1.f9a106p-2f, 0x1.d5873ap-2f, 0x1.b8c87ep-2f),
        root);
}
// Denormals, infinities and nan.
inline xsimd::batch_bool<float> IsNeitherNormalNorZero(const BatchF& a) {
#if defined(CX_ISA_AVX512)
    constexpr int kNan = 0x81, kInfinity = 0x18, kDenormal = 0x20;
    return xsimd::batch_bool<float>(_mm512_fpclass_ps_mask(a, kNan | kInfinity | kDenormal));
#else
    return ((a < BatchF(0x1p-126f)) & (a > BatchF(0.0f))) |
           !(a < BatchF(std::numeric_limits<float>::infinity()));
#endif
}
inline BatchF Cbrt(const BatchF& x) {
    const BatchF a = xsimd::abs(x);
    BatchF y = CbrtOfNormal(a);
    if (xsimd::any(IsNeitherNormalNorZero(a))) [[unlikely]] {
        const BatchF scaled = CbrtOfNormal(a * BatchF(0x1p24f)) * BatchF(0x1p-8f);
        y = Where(a < BatchF(0x1p-126f), scaled, y);
        y = Where(a < BatchF(std::numeric_limits<float>::infinity()), y, x);
    }
    return Copysign(y, x);
}

// A minimax polynomial in e brings 1 / cbrt(a) = r / cbrt(1 - e) to 2^-18, a third-order step to
// 2^-53. The last step is on the root itself, whose cube is subtracted exactly.
inline BatchD Cbrt(const BatchD& x) {
    const BatchD one(1.0);
    const BatchD third(0x1.5555555555555p-2);
    const BatchD magnitude = xsimd::abs(x);
    // Scales away from denormals, and from numbers whose rounded cube is infinite.
    const auto is_small = magnitude < BatchD(0x1p-960);
    const BatchD a = magnitude * Where(is_small, BatchD(0x1p54), BatchD(0.125));
    BatchD r = InverseCbrtNear(a);
    BatchD e = xsimd::fnma(a * r, r * r, one);
    r = xsimd::fma(r * e, Poly(e, 0x1.5553dcp-2, 0x1.c9af1ep-3, 0x1.65bd76p-3), r);
    e = xsimd::fnma(a * r, r * r, one);
    r = xsimd::fma(r * e, xsimd::fma(e, BatchD(0x1.c71c71c71c71cp-3), third), r);
    const BatchD inverse_square = r * r;
    const BatchD root = a * inverse_square;
    const BatchD square = root * root;
    const BatchD rest =
        xsimd::fnma(xsimd::fms(root, root, square), root, xsimd::fnma(square, root, a));
    const BatchD back = Where(is_small, BatchD(0x1p-18), BatchD(2.0));
    const BatchD y = xsimd::fma(rest, inverse_square * third, root) * back;
    const BatchD infinity{std::numeric_limits<double>::infinity()};
    return Where((magnitude > BatchD(0.0)) & (magnitude < infinity), Copysign(y, x), x);
}

// An infinity wins over NaN, as in C. The sum of squares in double-float arithmetic, after scaling
// by a power of two. Bits are the same with and without FMA.
inline BatchF Hypot(const BatchF& x1, const BatchF& x2) {
    using Bits = Batch<uint32_t>;
    const BatchF a1 = xsimd::abs(x1);
    const BatchF a2 = xsimd::abs(x2);
    const auto swapped = a1 < a2;  // NaN is not swapped
    const BatchF large = Where(swapped, a2, a1);
    const BatchF small = Where(swapped, a1, a2);
    // Neither this nor its reciprocal is denormal.
    const Bits exponent = xsimd::bitwise_cast<uint32_t>(large) & Bits(0x7f800000u);
    const BatchF power = Clamp(xsimd::bitwise_cast<float>(exponent), 0x1p-126f, 0x1p126f);
    const BatchF inverse =
        xsimd::bitwise_cast<float>(Bits(0x7f000000u) - xsimd::bitwise_cast<uint32_t>(power));
    const BatchF a = large * inverse;
    const BatchF b = small * inverse;
    const BatchF aa = a * a;
    const BatchF bb = b * b;
    const BatchF sum = aa + bb;
    const BatchF low = (ProductError(a, a, aa) + ProductError(b, b, bb)) + ((aa - sum) + bb);
    const BatchF root = xsimd::sqrt(sum);
    const BatchF square = root * root;
    const BatchF rest = ((sum - square) - ProductError(root, root, square)) + low;
    // 1 / (2 root), to within 1/8: `rest` is at most one ulp.
    const BatchF half =
        xsimd::bitwise_cast<float>(Bits(0x7e6ef311u) - xsimd::bitwise_cast<uint32_t>(root));
    const BatchF infinity(__builtin_inff());
    return Where((a1 == infinity) | (a2 == infinity), infinity, (root + rest * half) * power);
}
inline BatchD Hypot(const BatchD& x1, const BatchD& x2) {
    const BatchD a1 = xsimd::abs(x1);
    const BatchD a2 = xsimd::abs(x2);
    const BatchD largest = xsimd::max(a1, a2);
    // After scaling by a power of two, squares neither overflow nor underflow.
    const auto big = largest > BatchD(0x1p500);
    const auto small = largest < BatchD(0x1p-400);
    const BatchD scale = Where(big, BatchD(0x1p-600), Where(small, BatchD(0x1p600), BatchD(1.0)));
    const BatchD back = Where(big, BatchD(0x1p600), Where(small, BatchD(0x1p-600), BatchD(1.0)));
    const BatchD b1 = a1 * scale;
    const BatchD b2 = a2 * scale;
    const BatchD y = xsimd::sqrt(xsimd::fma(b1, b1, b2 * b2)) * back;
    const BatchD infinity(__builtin_inf());
    return Where((a1 == infinity) | (a2 == infinity), infinity, y);
}

}  // namespace math
}  // namespace
}  // namespace chainerx::native::CX_ISA
