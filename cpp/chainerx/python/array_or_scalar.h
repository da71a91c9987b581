// Operands that may be numbers.
#pragma once

#include "chainerx/ops/index/choose.h"
#include "chainerx/python/binary.h"

namespace chainerx::python {

inline ArrayOrScalar ToArrayOrScalar(const char* op, const char* name, PyObject* o) {
    if (IsNdArray(o)) return Self(o);
    return ToNumberBeside(op, name, o);
}

}  // namespace chainerx::python
