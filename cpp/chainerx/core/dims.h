// Shapes, strides and axes: vectors of at most kMaxNdim elements that never allocate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "chainerx/core/error.h"

namespace chainerx {

inline constexpr int8_t kMaxNdim = 10;

namespace internal {
[[noreturn]] CX_API CX_COLD void ThrowTooManyDims(int64_t ndim);
CX_API std::string TupleToString(const int64_t* first, const int64_t* last);
CX_API std::string TupleToString(const int8_t* first, const int8_t* last);
}  // namespace internal

template <typename T>
class StackVector {
 public:
    StackVector() = default;
    StackVector(const StackVector& o) : n_{o.n_} { CopyFrom(o); }
    StackVector(std::initializer_list<T> v) : StackVector(v.begin(), v.end()) {}
    template <typename It>
    StackVector(It first, It last) {
        for (; first != last; ++first) push_back(static_cast<T>(*first));
    }
    StackVector& operator=(const StackVector& o) {
        n_ = o.n_;
        CopyFrom(o);
        return *this;
    }

    static StackVector Filled(int64_t n, T value) {
        StackVector v;
        v.resize(n, value);
        return v;
    }

    int8_t ndim() const { return n_; }
    int64_t size() const { return n_; }
    bool empty() const { return n_ == 0; }
    T& operator[](int64_t i) { return v_[i]; }
    const T& operator[](int64_t i) const { return v_[i]; }
    T* begin() { return v_; }
    T* end() { return v_ + n_; }
    const T* begin() const { return v_; }
    const T* end() const { return v_ + n_; }
    T& back() { return v_[n_ - 1]; }
    const T& back() const { return v_[n_ - 1]; }

    void push_back(T value) {
        if (n_ == kMaxNdim) internal::ThrowTooManyDims(n_ + 1);
        v_[n_++] = value;
    }
    void pop_back() { --n_; }
    void clear() { n_ = 0; }
    void resize(int64_t n, T value = T{}) {
        if (n > kMaxNdim) internal::ThrowTooManyDims(n);
        for (int64_t i = n_; i < n; ++i) v_[i] = value;
        n_ = static_cast<int8_t>(n);
    }
    void insert(int64_t pos, T value) {
        push_back(value);
        std::rotate(v_ + pos, v_ + n_ - 1, v_ + n_);
    }
    void erase(int64_t pos) {
        std::copy(v_ + pos + 1, v_ + n_, v_ + pos);
        --n_;
    }

    friend bool operator==(const StackVector& a, const StackVector& b) {
        if (a.n_ != b.n_) return false;
        for (int8_t i = 0; i < a.n_; ++i) {
            if (a.v_[i] != b.v_[i]) return false;
        }
        return true;
    }

    // In the notation of a Python tuple.
    std::string ToString() const { return internal::TupleToString(begin(), end()); }

 private:
    void CopyFrom(const StackVector& o) {
        for (int8_t i = 0; i < n_; ++i) {
            v_[i] = o.v_[i];
            // Otherwise the compiler emits a call of memmove, which costs more than copying two or
            // three elements; several of these copies are on the path of every operation.
            asm("");
        }
    }

    int8_t n_{0};
    T v_[kMaxNdim];  // only the first n_ are ever read
};

class Shape : public StackVector<int64_t> {
 public:
    using StackVector::StackVector;
    Shape(const StackVector<int64_t>& v) : StackVector{v} {}  // NOLINT: a shape is a vector

    // Returns the product of the dimensions; the caller knows that it fits (it does for existing
    // arrays).
    int64_t GetTotalSize() const {
        int64_t n = 1;
        for (int64_t d : *this) n *= d;
        return n;
    }
};

// Strides in bytes, of any sign, 0 on broadcast axes.
class Strides : public StackVector<int64_t> {
 public:
    using StackVector::StackVector;
    // C-contiguous strides.
    Strides(const Shape& shape, int64_t item_size) {
        resize(shape.ndim());
        int64_t s = item_size;
        for (int8_t i = shape.ndim() - 1; i >= 0; --i) {
            (*this)[i] = s;
            s *= std::max<int64_t>(shape[i], 1);
        }
    }
};

class Axes : public StackVector<int8_t> {
 public:
    using StackVector::StackVector;
    Axes() = default;
    // NOLINT: users write Sum(x, 1). Values that don't fit are out of range of any array.
    Axes(int axis) : Axes{static_cast<int8_t>(std::clamp(axis, -128, 127))} {}  // NOLINT
};

// nullopt means "all axes".
using OptionalAxes = std::optional<Axes>;

// Product of dims times item_size; DimensionError on a negative dim or beyond 2^63.
CX_API int64_t CheckedNBytes(const char* op, const Shape& shape, int64_t item_size);

// Tests for C order, ignoring axes of length 1; an empty array is contiguous.
CX_API bool IsContiguous(const Shape& shape, const Strides& strides, int64_t item_size);

// Resolves a negative axis; DimensionError "op: axis 3 is out of range for 2 dimensions".
CX_API int8_t NormalizeAxis(const char* op, int64_t axis, int8_t ndim);

// Returns the axes resolved, sorted and free of duplicates; all axes for nullopt.
CX_API Axes NormalizeAxes(const char* op, const OptionalAxes& axes, int8_t ndim);

// DimensionError names both shapes when they don't broadcast.
CX_API Shape BroadcastShapes(const char* op, const Shape& x1, const Shape& x2);

// Strides that read `shape` as `out`, with 0 on stretched axes. The shapes must be compatible.
CX_API Strides BroadcastStrides(const Shape& shape, const Strides& strides, const Shape& out);

// The shape after reducing sorted `axes`.
CX_API Shape ReduceShape(const Shape& shape, const Axes& axes, bool keepdims);

// Returns whether an array of `from` can be broadcast to `to`.
CX_API bool IsBroadcastable(const Shape& from, const Shape& to);

}  // namespace chainerx
