// Calls elementwise routines of two or three operands.
#pragma once

#include <optional>
#include <type_traits>

#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray/ndarray.h"

namespace chainerx::python {

// A number beside an array. TypeError for other objects.
inline Scalar ToNumberBeside(const char* op, const char* name, PyObject* o) {
    if (const std::optional<Scalar> number = TryScalar(o)) return *number;
    throw TypeError{op,
                    ": ",
                    name,
                    " must be a chainerx.ndarray or a number, got ",
                    Py_TYPE(o)->tp_name,
                    "; make an array with chainerx.array()"};
}

CX_COLD inline const Array& NoArray(const char* op, const char* name1, PyObject* x1,
                                    const char* name2, PyObject* x2) {
    return ToArray(op, TryScalar(x1) ? name2 : name1, TryScalar(x1) ? x2 : x1);
}

// One of the operands may be a Python or NumPy scalar.
PyObject* CallBinary(const char* op, PyObject* const* a, auto f, const char* name1 = "x1",
                     const char* name2 = "x2") {
    if (IsNdArray(a[0])) [[likely]] {
        if (IsNdArray(a[1])) [[likely]]
            return Wrap(f(Self(a[0]), Self(a[1])));
        return Wrap(f(Self(a[0]), ToNumberBeside(op, name2, a[1])));
    }
    if (IsNdArray(a[1])) return Wrap(f(ToNumberBeside(op, name1, a[0]), Self(a[1])));
    NoArray(op, name1, a[0], name2, a[1]);
    return nullptr;
}

// All but one of the operands may be scalars.
PyObject* CallTernary(const char* op, PyObject* const* a, auto f, const char* const (&names)[3]) {
    const auto third = [&](const auto& x1, const auto& x2) {
        constexpr bool kIsArray = std::is_same_v<std::decay_t<decltype(x1)>, Array> ||
                                  std::is_same_v<std::decay_t<decltype(x2)>, Array>;
        if (IsNdArray(a[2])) return Wrap(f(x1, x2, Self(a[2])));
        if constexpr (kIsArray) {
            return Wrap(f(x1, x2, ToNumberBeside(op, names[2], a[2])));
        } else {
            return Wrap(ToArray(op, names[2], a[2]));  // throws
        }
    };
    const auto second = [&](const auto& x1) {
        return IsNdArray(a[1]) ? third(x1, Self(a[1]))
                               : third(x1, ToNumberBeside(op, names[1], a[1]));
    };
    return IsNdArray(a[0]) ? second(Self(a[0])) : second(ToNumberBeside(op, names[0], a[0]));
}

}  // namespace chainerx::python
