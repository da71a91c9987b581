// The operands of kernel rows as types, from which the function type and the descriptor of a row
// follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "chainerx/core/array.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx::kernels {

// A string as a template argument.
template <size_t kSize>
struct Text {
    char text[kSize]{};
    consteval Text(const char (&s)[kSize]) {  // NOLINT: made from a literal
        for (size_t i = 0; i < kSize; ++i) text[i] = s[i];
    }
};

template <OperandRole kRole, Text kName>
struct ArrayOperand {
    using Type = const Array&;
    static constexpr OperandInfo kInfo{kRole, OperandKind::kArray, "Array", kName.text};
};

// An input that may be a scalar instead, as if broadcast with stride 0.
template <Text kName>
struct ArrayOrScalarOperand {
    using Type = const Operand&;
    static constexpr OperandInfo kInfo{OperandRole::kIn, OperandKind::kArrayOrScalar, "Operand",
                                       kName.text};
};

// A list of arrays.
template <OperandRole kRole, Text kName>
struct ArraysOperand {
    using Type = std::span<const ConstArrayRef>;
    static constexpr OperandInfo kInfo{kRole, OperandKind::kArrays, "Array...", kName.text};
};

// Whether two host values are the same, bit by bit for numbers.
template <typename T>
bool IsSameValue(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, const char*>) {
        return std::string_view{a} == b;
    } else if constexpr (std::is_floating_point_v<T>) {
        return std::memcmp(&a, &b, sizeof(T)) == 0;
    } else if constexpr (std::is_same_v<T, Scalar>) {
        return a.IsSame(b);
    } else if constexpr (requires { a.has_value(); }) {
        return a.has_value() == b.has_value() && (!a.has_value() || IsSameValue(*a, *b));
    } else {
        return a == b;
    }
}

// For messages.
template <typename T>
std::string ValueToString(const T& value) {
    if constexpr (std::is_enum_v<T>) {
        return std::to_string(static_cast<int>(value));
    } else if constexpr (requires { StrCat(value); } &&
                         (std::is_scalar_v<T> || requires { value.ToString(); })) {
        return StrCat(value);
    } else if constexpr (requires {
                             StrCat(*value);
                             value.has_value();
                         }) {
        return value.has_value() ? StrCat(*value) : "none";
    } else {
        return "something else";
    }
}

// A host value; a call may be kept (kernels/kept_call.h), so it must not point to other objects
// that may die.
template <typename T, Text kType, Text kName>
struct ValueOperand {
    using Type = std::conditional_t<std::is_scalar_v<T>, T, const T&>;
    static_assert(std::is_trivially_destructible_v<T>, "an attribute is copied, never destroyed");
    static constexpr OperandInfo kInfo{
        OperandRole::kAttr,
        OperandKind::kValue,
        kType.text,
        kName.text,
        sizeof(T),
        [](void* to, const void* from) { new (to) T{*static_cast<const T*>(from)}; },
        [](const void* a, const void* b) {
            return IsSameValue(*static_cast<const T*>(a), *static_cast<const T*>(b));
        },
        [](const void* value) { return ValueToString(*static_cast<const T*>(value)); }};
};

template <typename... Operands>
struct Signature {
    using Fn = void(typename Operands::Type...);
    static constexpr OperandInfo kOperands[] = {Operands::kInfo...};

    static constexpr KernelInfo Info(const char* name, const char* family, int id) {
        uint64_t h = internal::HashText(0xcbf29ce484222325u, name);
        for (const OperandInfo& operand : kOperands) {
            h = internal::HashText(h, operand.type) * 31 + static_cast<uint64_t>(operand.role);
        }
        return {name, family, id, h, kOperands, static_cast<int>(sizeof...(Operands))};
    }
};

// The kernels of the family with that number, if it has been declared. Two families with the same
// number do not compile in table.cc, which includes all.
template <int kNumber>
struct FamilyAt;

}  // namespace chainerx::kernels
