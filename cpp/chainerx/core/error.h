// The exceptions of the library. A message names the op, the argument, and both values.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "chainerx/core/macro.h"

namespace chainerx {
namespace internal {

CX_API void AppendDouble(std::string& out, double value);

template <typename T>
void Append(std::string& out, const T& value) {
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
        out += std::string_view{value};
    } else if constexpr (std::is_same_v<T, bool>) {
        out += value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, char>) {
        out += value;
    } else if constexpr (std::is_integral_v<T>) {
        out += std::to_string(value);
    } else if constexpr (std::is_floating_point_v<T>) {
        AppendDouble(out, value);
    } else if constexpr (requires { value.ToString(); }) {
        out += value.ToString();
    } else {
        out += ToString(value);
    }
}

}  // namespace internal

// Concatenates strings, numbers, and anything with a ToString.
template <typename... Args>
std::string StrCat(const Args&... args) {
    std::string out;
    (internal::Append(out, args), ...);
    return out;
}

class CX_API ChainerxError : public std::runtime_error {
 public:
    template <typename... Args>
    explicit ChainerxError(const Args&... args) : std::runtime_error{StrCat(args...)} {}
};

// Each class is one row: the Python side makes its exceptions from the same list.
#define CX_ERROR_LIST(X)   \
    X(ContextError)        \
    X(BackendError)        \
    X(DeviceError)         \
    X(DimensionError)      \
    X(DtypeError)          \
    X(IndexError)          \
    X(ValueError)          \
    X(OverflowError)       \
    X(TypeError)           \
    X(NotFoundError)       \
    X(NotImplementedError) \
    X(OutOfMemoryError)    \
    X(GradientError)       \
    X(GradientCheckError)

#define CX_DEFINE_ERROR(Name)                  \
    class CX_API Name : public ChainerxError { \
     public:                                   \
        using ChainerxError::ChainerxError;    \
    };
CX_ERROR_LIST(CX_DEFINE_ERROR)
#undef CX_DEFINE_ERROR

// The program asked long work to stop (core/interrupt.h).
class CX_API InterruptedError : public ChainerxError {
 public:
    using ChainerxError::ChainerxError;
};

}  // namespace chainerx
