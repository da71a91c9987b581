// What the texts of chainerx.cuda.elementwise and reduce are made of. They are at global scope, so
// that the user's expressions find the functions of CUDA and nothing of ours.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "chainerx/cuda/device/language.h"
#include "chainerx/cuda/device/numbers.h"

template <typename T>
using complex = chainerx::native::ComplexNumber<T>;

// What users expect of complex numbers, and kernels of our own do without.
namespace chainerx::native {

template <typename T>
inline ComplexNumber<T>& operator+=(ComplexNumber<T>& a, const ComplexNumber<T>& b) {
    return a = a + b;
}
template <typename T>
inline ComplexNumber<T>& operator-=(ComplexNumber<T>& a, const ComplexNumber<T>& b) {
    return a = a - b;
}
template <typename T>
inline ComplexNumber<T>& operator*=(ComplexNumber<T>& a, const ComplexNumber<T>& b) {
    return a = a * b;
}
template <typename T>
inline ComplexNumber<T>& operator/=(ComplexNumber<T>& a, const ComplexNumber<T>& b) {
    return a = a / b;
}
template <typename T>
inline T real(const ComplexNumber<T>& z) {
    return z.real();
}
template <typename T>
inline T imag(const ComplexNumber<T>& z) {
    return z.imag();
}
template <typename T>
inline ComplexNumber<T> conj(const ComplexNumber<T>& z) {
    return {z.real(), -z.imag()};
}

}  // namespace chainerx::native

namespace chainerx::cuda::custom {

inline constexpr int kThreads = 256;

// What users compute with: the type in memory, but for those that have no arithmetic.
template <typename T>
using Value = std::conditional_t<std::is_integral_v<T>, T, Number<T>>;

// An element in memory that is read and written as its value.
template <typename T>
class Element {
 public:
    explicit Element(T* p) : p_{p} {}
    operator Value<T>() const { return static_cast<Value<T>>(*p_); }  // NOLINT: as a reference
    Element& operator=(const Value<T>& x) {
        *p_ = static_cast<T>(x);
        return *this;
    }
    Element& operator=(const Element& x) { return *this = static_cast<Value<T>>(x); }
    Element& operator+=(const Value<T>& x) { return *this = *this + x; }
    Element& operator-=(const Value<T>& x) { return *this = *this - x; }
    Element& operator*=(const Value<T>& x) { return *this = *this * x; }
    Element& operator/=(const Value<T>& x) { return *this = *this / x; }

 private:
    T* p_;
};

template <typename T>
struct ReferenceType {
    using Type = Value<T>&;
    static Type Make(T* p) { return *reinterpret_cast<Value<T>*>(p); }
};
template <typename T>
    requires(!std::is_same_v<T, Value<T>> && !kIsComplex<T>)
struct ReferenceType<T> {
    using Type = Element<T>;
    static Type Make(T* p) { return Element<T>{p}; }
};
template <typename T>
using Reference = typename ReferenceType<T>::Type;

template <typename T>
inline Reference<T> At(const Ptr<char>& p, int64_t offset) {
    return ReferenceType<T>::Make(reinterpret_cast<T*>(static_cast<char*>(p) + offset));
}

// A scalar parameter takes a multiple of 8 bytes, as arrays do.
template <typename T>
struct alignas(8) ScalarParam {
    T value;
    Value<T> Get() const { return static_cast<Value<T>>(value); }
};

template <int kDims>
struct Sizes {
    int64_t of[kDims];
    int64_t size() const {
        int64_t n = 1;
        for (int d = 0; d < kDims; ++d) n *= of[d];
        return n;
    }
};
template <>
struct Sizes<0> {
    int64_t size() const { return 1; }
};

// The position of an element, also as `_ind` of the user's text.
template <int kDims>
class Indexer {
 public:
    Indexer(const Sizes<kDims>& shape, int64_t i) {
        size_ = shape.size();
        if constexpr (kDims > 0) {
            for (int d = kDims - 1; d > 0; --d) {
                at_[d] = i % shape.of[d];
                i /= shape.of[d];
            }
            at_[0] = i;
        }
    }
    int64_t size() const { return size_; }
    const int64_t* get() const { return at_; }

 private:
    int64_t size_;
    int64_t at_[kDims > 0 ? kDims : 1];
};

// A broadcast array: strides are in bytes, 0 along repeated axes.
template <int kDims>
struct Strided {
    Ptr<char> data;
    Sizes<kDims> strides;
    int64_t Offset(const int64_t* at) const {
        int64_t offset = 0;
        for (int d = 0; d < kDims; ++d) offset += at[d] * strides.of[d];
        return offset;
    }
};
template <>
struct Strided<0> {
    Ptr<char> data;
    int64_t Offset(const int64_t* /*at*/) const { return 0; }
};

// A `raw` array, whose elements the text chooses itself, by a position in C order or by one number
// per axis; at least one axis.
template <typename T, int kDims>
class Raw {
 public:
    static constexpr int ndim = kDims;

    int64_t size() const { return shape_.size(); }
    const int64_t* shape() const { return shape_.of; }
    const int64_t* strides() const { return array_.strides.of; }
    template <typename I>
        requires std::is_integral_v<I>
    Reference<T> operator[](I i) const {
        const Indexer<kDims> at{shape_, static_cast<int64_t>(i)};
        return At<T>(array_.data, array_.Offset(at.get()));
    }
    template <typename I>
        requires std::is_integral_v<I>
    Reference<T> operator[](const I* indices) const {
        int64_t at[kDims];
        for (int d = 0; d < kDims; ++d) at[d] = indices[d];
        return At<T>(array_.data, array_.Offset(at));
    }

 private:
    Sizes<kDims> shape_;
    Strided<kDims> array_;
};

template <int kFirst, int kSecond>
inline Sizes<kFirst + kSecond> Join(const Sizes<kFirst>& first, const Sizes<kSecond>& second) {
    Sizes<kFirst + kSecond> joined;
    if constexpr (kFirst > 0) {
        for (int d = 0; d < kFirst; ++d) joined.of[d] = first.of[d];
    }
    if constexpr (kSecond > 0) {
        for (int d = 0; d < kSecond; ++d) joined.of[kFirst + d] = second.of[d];
    }
    return joined;
}

// Combines the values of the first `count` threads of a block, at least one unless there is an
// identity; thread 0 returns the result.
template <typename T, typename F>
inline T ReduceBlock(T* shared, const T& x, int64_t count, const F& combine) {
    const int thread = static_cast<int>(threadIdx.x);
    shared[thread] = x;
    for (int n = kThreads / 2; n > 0; n /= 2) {
        __syncthreads();
        if (thread < n && thread + n < count) {
            shared[thread] = combine(shared[thread], shared[thread + n]);
        }
    }
    return shared[0];
}

}  // namespace chainerx::cuda::custom
