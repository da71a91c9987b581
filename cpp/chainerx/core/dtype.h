// Element types, their promotion, and dispatch from a run-time dtype to a C++ type.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "chainerx/core/error.h"
#include "chainerx/core/float16.h"

namespace chainerx {

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

// enumerator, C++ type, NumPy name, NumPy type character, kind
#define CX_DTYPE_LIST(X)                                 \
    X(kBool, bool, "bool", '?', kBool)                   \
    X(kInt8, int8_t, "int8", 'b', kInt)                  \
    X(kInt16, int16_t, "int16", 'h', kInt)               \
    X(kInt32, int32_t, "int32", 'i', kInt)               \
    X(kInt64, int64_t, "int64", 'l', kInt)               \
    X(kUInt8, uint8_t, "uint8", 'B', kUInt)              \
    X(kUInt16, uint16_t, "uint16", 'H', kUInt)           \
    X(kUInt32, uint32_t, "uint32", 'I', kUInt)           \
    X(kUInt64, uint64_t, "uint64", 'L', kUInt)           \
    X(kFloat16, Float16, "float16", 'e', kFloat)         \
    X(kBFloat16, BFloat16, "bfloat16", 'E', kFloat)      \
    X(kFloat32, float, "float32", 'f', kFloat)           \
    X(kFloat64, double, "float64", 'd', kFloat)          \
    X(kComplex64, Complex64, "complex64", 'F', kComplex) \
    X(kComplex128, Complex128, "complex128", 'D', kComplex)

#define CX_ENUMERATOR(Enum, Type, name, code, kind) Enum,
enum class Dtype : int8_t { CX_DTYPE_LIST(CX_ENUMERATOR) };
#undef CX_ENUMERATOR

#define CX_COUNT(Enum, Type, name, code, kind) +1
inline constexpr int kNumDtypes = CX_DTYPE_LIST(CX_COUNT);
#undef CX_COUNT

// In the order of promotion.
enum class DtypeKind : int8_t { kBool, kInt, kUInt, kFloat, kComplex };

namespace internal {

struct DtypeInfo {
    const char* name;
    int8_t item_size;
    char char_code;
    DtypeKind kind;
};

#define CX_INFO(Enum, Type, name, code, kind) {name, sizeof(Type), code, DtypeKind::kind},
inline constexpr DtypeInfo kDtypeInfo[] = {CX_DTYPE_LIST(CX_INFO)};
#undef CX_INFO

template <typename T>
struct DtypeOf;
#define CX_OF(Enum, Type, name, code, kind)         \
    template <>                                     \
    struct DtypeOf<Type> {                          \
        static constexpr Dtype value = Dtype::Enum; \
    };
CX_DTYPE_LIST(CX_OF)
#undef CX_OF

}  // namespace internal

template <typename T>
inline constexpr Dtype kDtypeOf = internal::DtypeOf<T>::value;

inline constexpr Dtype kDefaultFloat = Dtype::kFloat32;
inline constexpr Dtype kDefaultInt = Dtype::kInt32;

inline constexpr const internal::DtypeInfo& GetInfo(Dtype dtype) {
    return internal::kDtypeInfo[static_cast<int>(dtype)];
}
inline constexpr int64_t GetItemSize(Dtype dtype) { return GetInfo(dtype).item_size; }
inline constexpr DtypeKind GetKind(Dtype dtype) { return GetInfo(dtype).kind; }
inline constexpr const char* GetDtypeName(Dtype dtype) { return GetInfo(dtype).name; }
inline constexpr char GetCharCode(Dtype dtype) { return GetInfo(dtype).char_code; }
inline std::string ToString(Dtype dtype) { return GetDtypeName(dtype); }

inline constexpr bool IsBool(Dtype dtype) { return dtype == Dtype::kBool; }
inline constexpr bool IsFloat(Dtype dtype) { return GetKind(dtype) == DtypeKind::kFloat; }
inline constexpr bool IsComplex(Dtype dtype) { return GetKind(dtype) == DtypeKind::kComplex; }
inline constexpr bool IsInt(Dtype dtype) {
    return GetKind(dtype) == DtypeKind::kInt || GetKind(dtype) == DtypeKind::kUInt;
}
// Groups of dtypes, in which signed and unsigned integers are one: values convert to higher
// categories without a cast.
enum class DtypeCategory : int8_t { kBool, kInt, kFloat, kComplex };
inline constexpr DtypeCategory GetCategory(DtypeKind kind) {
    const int step =
        kind > DtypeKind::kInt ? 1 : 0;  // kinds are ordered, with one integer kind more
    return static_cast<DtypeCategory>(static_cast<int>(kind) - step);
}
inline constexpr DtypeCategory GetCategory(Dtype dtype) { return GetCategory(GetKind(dtype)); }
// Gradients flow through these.
inline constexpr bool IsDifferentiable(Dtype dtype) { return GetKind(dtype) >= DtypeKind::kFloat; }

// Throws DtypeError for an unknown name. Accepts NumPy names, "bool_", "int", "float", and
// one-character codes.
CX_API Dtype GetDtype(std::string_view name);

// The smallest dtype that both convert to, by the rules of docs/dtypes.md: bool yields, floats
// beat integers of any width, complex beats floats.
CX_API Dtype PromoteTypes(Dtype x1, Dtype x2);

// The dtype in which a floating point function of `dtype` is computed: itself if it is floating or
// complex, the default float otherwise.
inline constexpr Dtype FloatResult(Dtype dtype) {
    return IsDifferentiable(dtype) ? dtype : kDefaultFloat;
}

// Returns float32 for complex64 and so on.
inline constexpr Dtype RealDtype(Dtype dtype) {
    return dtype == Dtype::kComplex64    ? Dtype::kFloat32
           : dtype == Dtype::kComplex128 ? Dtype::kFloat64
                                         : dtype;
}

// The type in which a kernel computes: 32-bit integers for smaller ones, float for 16-bit floats.
template <typename T>
using ComputeType = std::conditional_t<
    std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>, float,
    std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && (sizeof(T) < 4),
                       std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>, T>>;

template <typename T>
inline constexpr bool kIsComplexType = IsComplex(kDtypeOf<T>);

// Converts one element. Complex to real drops the imaginary part; to bool is "not zero".
template <typename To, typename From>
inline To Cast(From value) {
    if constexpr (std::is_same_v<To, From>) {
        return value;
    } else if constexpr (kIsComplexType<From>) {
        if constexpr (kIsComplexType<To>) {
            return To(value);
        } else if constexpr (std::is_same_v<To, bool>) {
            return value != From{};
        } else {
            return Cast<To>(value.real());
        }
    } else if constexpr (std::is_same_v<From, Float16> || std::is_same_v<From, BFloat16>) {
        return Cast<To>(static_cast<float>(value));
    } else if constexpr (kIsComplexType<To>) {
        return To(static_cast<typename To::value_type>(value));
    } else if constexpr (std::is_same_v<To, Float16> || std::is_same_v<To, BFloat16>) {
        if constexpr (std::is_same_v<From, float>)
            return To(value);
        else
            return To(static_cast<double>(value));
    } else if constexpr (std::is_same_v<To, bool>) {
        return value != From{0};
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        // Out of range conversions are undefined in C++; this goes through int64, as NumPy on
        // x86-64.
        if constexpr (std::is_same_v<To, uint64_t>) {
            if (value >= From(0x1p63)) {
                return value < From(0x1p64) ? static_cast<uint64_t>(value) : uint64_t{1} << 63;
            }
        }
        const bool fits = value >= From(-0x1p63) && value < From(0x1p63);
        return static_cast<To>(fits ? static_cast<int64_t>(value) : INT64_MIN);
    } else {
        return static_cast<To>(value);
    }
}

[[noreturn]] CX_API CX_COLD void ThrowUnexpectedDtype(Dtype dtype, const char* expected);
[[noreturn]] CX_API CX_COLD void ThrowUnexpectedDtype(const char* op, const char* name, Dtype dtype,
                                                      const char* expected);

// Checks the dtype of an argument: "op: name has dtype float32, expected integers".
inline void CheckDtype(bool fits, const char* op, const char* name, Dtype dtype,
                       const char* expected) {
    if (!fits) [[unlikely]]
        ThrowUnexpectedDtype(op, name, dtype, expected);
}

namespace internal {

template <DtypeKind... kKinds>
decltype(auto) VisitKinds(Dtype dtype, const char* expected, auto&& f) {
    switch (dtype) {
#define CX_CASE(Enum, Type, name, code, kind)                 \
    case Dtype::Enum:                                         \
        if constexpr (((DtypeKind::kind == kKinds) || ...)) { \
            return f.template operator()<Type>();             \
        } else {                                              \
            break;                                            \
        }
        CX_DTYPE_LIST(CX_CASE)
#undef CX_CASE
    }
    ThrowUnexpectedDtype(dtype, expected);
}

}  // namespace internal

// Call f.template operator()<T>() with the C++ type of `dtype`: of any, of a float, of an integer.
decltype(auto) VisitDtype(Dtype dtype, auto&& f) {
    return internal::VisitKinds<DtypeKind::kBool, DtypeKind::kInt, DtypeKind::kUInt,
                                DtypeKind::kFloat, DtypeKind::kComplex>(dtype, "a known dtype", f);
}
decltype(auto) VisitFloat(Dtype dtype, auto&& f) {
    return internal::VisitKinds<DtypeKind::kFloat>(dtype, "a floating point dtype", f);
}
decltype(auto) VisitInt(Dtype dtype, auto&& f) {
    return internal::VisitKinds<DtypeKind::kInt, DtypeKind::kUInt>(dtype, "an integer dtype", f);
}

// Dispatches by item size only: for kernels that move elements without interpreting them.
template <typename F>
decltype(auto) VisitItemSize(int64_t item_size, F&& f) {
    switch (item_size) {
        case 1:
            return f.template operator()<uint8_t>();
        case 2:
            return f.template operator()<uint16_t>();
        case 4:
            return f.template operator()<uint32_t>();
        case 8:
            return f.template operator()<uint64_t>();
        default:
            return f.template operator()<Complex128>();
    }
}

}  // namespace chainerx
