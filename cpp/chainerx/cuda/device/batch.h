// A SIMD batch of one lane. Device sources find it as native/strided/simd/batch.h, so that native's
// mathematical functions (native/math/simd) compile for a device as they are.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace xsimd {

template <typename T>
using as_unsigned_integer_t = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// The bits of a mask, all ones or all zeros: what a batch is made of for a bitwise operation.
template <typename T>
struct Mask {
    as_unsigned_integer_t<T> bits;
};

template <typename T>
struct batch_bool {
    using Bits = as_unsigned_integer_t<T>;
    Mask<T> data;

    batch_bool() = default;
    batch_bool(bool on) : data{on ? ~Bits{0} : Bits{0}} {}  // NOLINT: as in xsimd
    static batch_bool from_mask(uint64_t mask) { return (mask & 1) != 0; }
    uint64_t mask() const { return data.bits & 1; }
    bool on() const { return data.bits != 0; }

    batch_bool operator!() const { return !on(); }
    batch_bool operator~() const { return !on(); }
    friend batch_bool operator&(batch_bool a, batch_bool b) { return a.on() && b.on(); }
    friend batch_bool operator|(batch_bool a, batch_bool b) { return a.on() || b.on(); }
    friend batch_bool operator^(batch_bool a, batch_bool b) { return a.on() != b.on(); }
    friend batch_bool operator&&(batch_bool a, batch_bool b) { return a.on() && b.on(); }
    friend batch_bool operator||(batch_bool a, batch_bool b) { return a.on() || b.on(); }
    friend batch_bool operator==(batch_bool a, batch_bool b) { return a.on() == b.on(); }
    friend batch_bool operator!=(batch_bool a, batch_bool b) { return a.on() != b.on(); }
};

template <typename T>
struct batch {
    using value_type = T;
    using arch_type = void;
    using Bits = as_unsigned_integer_t<T>;
    static constexpr size_t size = 1;

    T v;

    batch() = default;
    batch(T x) : v{x} {}  // NOLINT: as in xsimd
    explicit batch(Mask<T> mask) : v{std::bit_cast<T>(mask.bits)} {}
    static batch FromBits(Bits bits) { return std::bit_cast<T>(bits); }
    Bits bits() const { return std::bit_cast<Bits>(v); }

    static batch load_unaligned(const T* p) { return *p; }
    static batch load_aligned(const T* p) { return *p; }
    void store_unaligned(T* p) const { *p = v; }
    void store_aligned(T* p) const { *p = v; }
    T get(size_t /*lane*/) const { return v; }

    batch operator-() const { return -v; }
    batch operator~() const { return FromBits(~bits()); }
    friend batch operator+(batch a, batch b) { return a.v + b.v; }
    friend batch operator-(batch a, batch b) { return a.v - b.v; }
    friend batch operator*(batch a, batch b) { return a.v * b.v; }
    friend batch operator/(batch a, batch b) { return a.v / b.v; }
    friend batch operator&(batch a, batch b) { return FromBits(a.bits() & b.bits()); }
    friend batch operator|(batch a, batch b) { return FromBits(a.bits() | b.bits()); }
    friend batch operator^(batch a, batch b) { return FromBits(a.bits() ^ b.bits()); }
    friend batch operator<<(batch a, int n) { return static_cast<T>(static_cast<Bits>(a.v) << n); }
    friend batch operator>>(batch a, int n) { return static_cast<T>(a.v >> n); }
    friend batch_bool<T> operator<(batch a, batch b) { return a.v < b.v; }
    friend batch_bool<T> operator>(batch a, batch b) { return a.v > b.v; }
    friend batch_bool<T> operator<=(batch a, batch b) { return a.v <= b.v; }
    friend batch_bool<T> operator>=(batch a, batch b) { return a.v >= b.v; }
    friend batch_bool<T> operator==(batch a, batch b) { return a.v == b.v; }
    friend batch_bool<T> operator!=(batch a, batch b) { return a.v != b.v; }
    batch& operator+=(batch b) { return *this = *this + b; }
    batch& operator-=(batch b) { return *this = *this - b; }
    batch& operator*=(batch b) { return *this = *this * b; }
};

template <typename T>
inline batch<T> select(batch_bool<T> condition, batch<T> a, batch<T> b) {
    return condition.on() ? a : b;
}
template <typename T>
inline bool any(batch_bool<T> x) {
    return x.on();
}
template <typename T>
inline bool all(batch_bool<T> x) {
    return x.on();
}

#define CX_FUNCTION(name, of_float, of_double)                         \
    inline batch<float> name(batch<float> x) { return of_float(x.v); } \
    inline batch<double> name(batch<double> x) { return of_double(x.v); }
CX_FUNCTION(abs, ::fabsf, ::fabs)
CX_FUNCTION(sqrt, ::sqrtf, ::sqrt)
CX_FUNCTION(floor, ::floorf, ::floor)
CX_FUNCTION(ceil, ::ceilf, ::ceil)
CX_FUNCTION(trunc, ::truncf, ::trunc)
CX_FUNCTION(nearbyint, ::rintf, ::rint)
CX_FUNCTION(log2, ::log2f, ::log2)
CX_FUNCTION(log10, ::log10f, ::log10)
CX_FUNCTION(log1p, ::log1pf, ::log1p)
CX_FUNCTION(asinh, ::asinhf, ::asinh)
CX_FUNCTION(acosh, ::acoshf, ::acosh)
CX_FUNCTION(atanh, ::atanhf, ::atanh)
CX_FUNCTION(asin, ::asinf, ::asin)
CX_FUNCTION(acos, ::acosf, ::acos)
CX_FUNCTION(atan, ::atanf, ::atan)
#undef CX_FUNCTION

inline float Fma(float a, float b, float c) { return ::fmaf(a, b, c); }
inline double Fma(double a, double b, double c) { return ::fma(a, b, c); }
template <typename T>
inline batch<T> fma(batch<T> a, batch<T> b, batch<T> c) {
    return Fma(a.v, b.v, c.v);
}
template <typename T>
inline batch<T> fms(batch<T> a, batch<T> b, batch<T> c) {
    return Fma(a.v, b.v, -c.v);
}
template <typename T>
inline batch<T> fnma(batch<T> a, batch<T> b, batch<T> c) {
    return Fma(-a.v, b.v, c.v);
}

template <typename T>
inline batch<T> min(batch<T> a, batch<T> b) {
    return b.v < a.v ? b : a;
}
template <typename T>
inline batch<T> max(batch<T> a, batch<T> b) {
    return a.v < b.v ? b : a;
}
template <typename T>
inline batch<T> bitofsign(batch<T> x) {
    return x & batch<T>(T(-0.0));
}
template <typename T>
inline batch<T> bitwise_andnot(batch<T> a, batch<T> b) {
    return batch<T>::FromBits(a.bits() & ~b.bits());
}
template <typename To, typename From>
inline batch<To> bitwise_cast(batch<From> x) {
    return std::bit_cast<To>(x.v);
}
template <typename To, typename From>
inline batch<To> batch_cast(batch<From> x) {
    return static_cast<To>(x.v);
}
template <typename To, typename T>
inline batch_bool<To> batch_bool_cast(batch_bool<T> x) {
    return x.on();
}
inline batch<float> to_float(batch<int32_t> x) { return static_cast<float>(x.v); }
inline batch<double> to_float(batch<int64_t> x) { return static_cast<double>(x.v); }
inline batch<int32_t> to_int(batch<float> x) { return static_cast<int32_t>(x.v); }
inline batch<int64_t> to_int(batch<double> x) { return static_cast<int64_t>(x.v); }

}  // namespace xsimd

namespace chainerx::native::CX_ISA {
namespace {

template <typename T>
using Batch = xsimd::batch<T>;
using BatchF = Batch<float>;
using BatchD = Batch<double>;

struct PairD {
    BatchD low;
    BatchD high;
};
inline PairD Widen(const BatchF& x) { return {static_cast<double>(x.v), 0.0}; }
inline BatchF Narrow(const PairD& x) { return static_cast<float>(x.low.v); }

template <typename T, typename F>
inline Batch<T> PatchLanes(const Batch<T>& y, const xsimd::batch_bool<T>& where, const Batch<T>& x1,
                           const Batch<T>& x2, F f) {
    return where.on() ? Batch<T>(f(x1.v, x2.v)) : y;
}

}  // namespace
}  // namespace chainerx::native::CX_ISA

#include "chainerx/native/strided/simd/poly.h"
