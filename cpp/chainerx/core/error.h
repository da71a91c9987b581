// The exceptions of the library. A message names the op, the argument, and both values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "chainerx/core/macro.h"

namespace chainerx {
namespace internal {

CX_API void AppendDouble(std::string& out, double value);

// A type-erased argument of a message: the address of a value and the function that appends it. A
// constructor instance per list of argument types made a twentieth of the library.
class MessagePart {
 public:
    template <typename T>
    MessagePart(const T& value) : value_{&value}, append_{&Append<T>} {}          // NOLINT
    MessagePart(const char* const& text) : value_{text}, append_{&AppendText} {}  // NOLINT
    template <size_t n>
    MessagePart(const char (&text)[n]) : value_{text}, append_{&AppendText} {}       // NOLINT
    MessagePart(const int& value) : value_{&value}, append_{&AppendInt} {}           // NOLINT
    MessagePart(const int64_t& value) : value_{&value}, append_{&AppendInt64} {}     // NOLINT
    MessagePart(const uint64_t& value) : value_{&value}, append_{&AppendUInt64} {}   // NOLINT
    MessagePart(const std::string& text) : value_{&text}, append_{&AppendString} {}  // NOLINT

    void AppendTo(std::string& out) const { append_(out, value_); }

 private:
    template <typename T>
    static void Append(std::string& out, const void* address) {
        const T& value = *static_cast<const T*>(address);
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
    CX_API static void AppendText(std::string& out, const void* text);
    CX_API static void AppendInt(std::string& out, const void* value);
    CX_API static void AppendInt64(std::string& out, const void* value);
    CX_API static void AppendUInt64(std::string& out, const void* value);
    CX_API static void AppendString(std::string& out, const void* text);

    const void* value_;
    void (*append_)(std::string& out, const void* value);
};

CX_API std::string Concatenate(std::initializer_list<MessagePart> parts);

}  // namespace internal

// Concatenates strings, numbers, and anything with a ToString.
template <typename... Args>
std::string StrCat(const Args&... args) {
    return internal::Concatenate({internal::MessagePart{args}...});
}

class CX_API ChainerxError : public std::runtime_error {
 public:
    template <typename... Args>
    explicit ChainerxError(const Args&... args)
        : ChainerxError{Message{{internal::MessagePart{args}...}}} {}
    ~ChainerxError() override;

 private:
    struct Message {
        std::initializer_list<internal::MessagePart> parts;
    };
    explicit ChainerxError(const Message& message);
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
    X(GradientCheckError)  \
    X(CaptureError)

#define CX_DEFINE_ERROR(Name)                  \
    class CX_API Name : public ChainerxError { \
     public:                                   \
        using ChainerxError::ChainerxError;    \
        ~Name() override;                      \
    };
CX_ERROR_LIST(CX_DEFINE_ERROR)
#undef CX_DEFINE_ERROR

// The program has asked to stop long work (core/interrupt.h).
class CX_API InterruptedError : public ChainerxError {
 public:
    using ChainerxError::ChainerxError;
    ~InterruptedError() override;
};

}  // namespace chainerx
