// Operands that may be numbers.
#pragma once

#include "chainerx/ops/choosing.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

inline ArrayOrScalar ToArrayOrScalar(const char* op, const char* name, PyObject* o) {
    if (IsNdArray(o)) return Self(o);
    return ToOperand(op, name, o);
}

}  // namespace chainerx::python
