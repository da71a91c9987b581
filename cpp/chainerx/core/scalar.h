// One number outside any array: a Python or C++ scalar operand. Its dtype is weak: it changes the
// dtype of a result only when its category (integer, floating, complex) exceeds the arrays'.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#include "chainerx/core/dtype.h"

namespace chainerx {

class Scalar {
 public:
    constexpr Scalar() : kind_{DtypeKind::kInt}, int_{0} {}
    template <typename T>
        requires std::is_arithmetic_v<T>
    constexpr Scalar(T value)  // NOLINT: a number is a scalar
        : kind_{std::is_same_v<T, bool>                   ? DtypeKind::kBool
                : std::is_floating_point_v<T>             ? DtypeKind::kFloat
                : std::is_unsigned_v<T> && sizeof(T) == 8 ? DtypeKind::kUInt
                                                          : DtypeKind::kInt} {
        if constexpr (std::is_floating_point_v<T>) {
            float_ = value;
        } else {
            int_ = static_cast<int64_t>(value);
        }
    }
    Scalar(std::complex<double> value)  // NOLINT: as above
        : kind_{DtypeKind::kComplex}, float_{value.real()}, imag_{value.imag()} {}

    // An integer of more than 64 bits; keeps only an approximation.
    static Scalar HugeInt(double value) {
        Scalar s;
        s.is_huge_ = true;
        s.float_ = value;
        return s;
    }
    bool IsHugeInt() const { return is_huge_; }

    // kUInt only for values that were given as uint64_t; they may exceed int64.
    DtypeKind kind() const { return kind_; }

    // The dtype of an array made from this scalar alone.
    Dtype dtype() const {
        switch (kind_) {
            case DtypeKind::kBool:
                return Dtype::kBool;
            case DtypeKind::kFloat:
                return kDefaultFloat;
            case DtypeKind::kComplex:
                return Dtype::kComplex64;
            case DtypeKind::kUInt:
                return static_cast<uint64_t>(int_) > INT64_MAX ? Dtype::kUInt64 : kDefaultInt;
            default:
                return kDefaultInt;
        }
    }

    template <typename T>
    T To() const {
        switch (kind_) {
            case DtypeKind::kBool:
                return Cast<T>(int_ != 0);
            case DtypeKind::kFloat:
                return Cast<T>(float_);
            case DtypeKind::kComplex:
                return Cast<T>(std::complex<double>{float_, imag_});
            case DtypeKind::kUInt:
                return Cast<T>(static_cast<uint64_t>(int_));
            default:
                return is_huge_ ? Cast<T>(float_) : Cast<T>(int_);
        }
    }

    // Returns whether both are the same number of the same kind, bit by bit.
    bool IsSame(const Scalar& o) const {
        return kind_ == o.kind_ && is_huge_ == o.is_huge_ && int_ == o.int_ &&
               std::bit_cast<int64_t>(imag_) == std::bit_cast<int64_t>(o.imag_);
    }

    // Returns whether bool or an integer dtype can represent the number after truncation.
    CX_API bool Fits(Dtype dtype) const;

    Scalar operator-() const {
        switch (kind_) {
            case DtypeKind::kBool:
                throw DtypeError{"negative: a bool scalar has no negative"};
            case DtypeKind::kFloat:
                return Scalar{-float_};
            case DtypeKind::kComplex:
                return Scalar{std::complex<double>{-float_, -imag_}};
            default:
                if (is_huge_) return HugeInt(-float_);
                return Scalar{static_cast<int64_t>(-static_cast<uint64_t>(int_))};
        }
    }

    std::string ToString() const {
        switch (kind_) {
            case DtypeKind::kBool:
                return int_ != 0 ? "True" : "False";
            case DtypeKind::kFloat:
                return StrCat(float_);
            case DtypeKind::kComplex:
                return StrCat("(", float_, imag_ < 0 ? "" : "+", imag_, "j)");
            case DtypeKind::kUInt:
                return StrCat(static_cast<uint64_t>(int_));
            default:
                return is_huge_ ? StrCat(float_) : StrCat(int_);
        }
    }

 private:
    DtypeKind kind_;
    bool is_huge_{false};
    union {
        int64_t int_;
        double float_;
    };
    double imag_{0};
};

// Returns the dtype of an operation between an array and a scalar.
inline Dtype ResultType(Dtype array, const Scalar& scalar) {
    const DtypeKind kind = scalar.kind();
    if (kind < DtypeKind::kFloat || kind <= GetKind(array)) return array;
    if (kind == DtypeKind::kFloat) return kDefaultFloat;
    return array == Dtype::kFloat64 ? Dtype::kComplex128 : Dtype::kComplex64;
}

}  // namespace chainerx
