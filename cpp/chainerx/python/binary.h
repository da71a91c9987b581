// Calls of elementwise routines of two operands.
#pragma once

#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {

CX_COLD inline const Array& NoArray(const char* op, const char* name1, PyObject* x1,
                                    const char* name2, PyObject* x2) {
    return ToArray(op, TryScalar(x1) ? name2 : name1, TryScalar(x1) ? x2 : x1);
}

// One of the operands may be a Python or NumPy scalar.
template <typename F>
PyObject* CallBinary(const char* op, PyObject* const* a, F f, const char* name1 = "x1",
                     const char* name2 = "x2") {
    if (IsNdArray(a[0])) [[likely]] {
        if (IsNdArray(a[1])) [[likely]]
            return Wrap(f(Self(a[0]), Self(a[1])));
        return Wrap(f(Self(a[0]), ToOperand(op, name2, a[1])));
    }
    if (IsNdArray(a[1])) return Wrap(f(ToOperand(op, name1, a[0]), Self(a[1])));
    NoArray(op, name1, a[0], name2, a[1]);
    return nullptr;
}

}  // namespace chainerx::python
