// Parameters, besides operands, of the products that are ufuncs in NumPy.
#pragma once

#include "chainerx/ops/elementwise/out_argument.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"

#define CX_PRODUCT_OUT_ARG                                                                       \
    "    out (ndarray): Written to and returned. It has the shape of the result and a dtype of " \
    "no lower\n"                                                                                 \
    "        kind; neither it nor an operand may be part of a graph.\n"
#define CX_PRODUCT_ARGS CX_PRODUCT_OUT_ARG CX_DTYPE_ARG

namespace chainerx::python {

// Calls f(x1, x2), both cast to `dtype` if it is given.
PyObject* CallProduct(const char* op, PyObject* x1, PyObject* x2, PyObject* out, PyObject* dtype,
                      const auto& f) {
    const Array& a = ToArray(op, "x1", x1);
    const Array& b = ToArray(op, "x2", x2);
    if (!Given(dtype)) return Finish(op, f(a, b), out);
    const Dtype d = ToDtype(dtype);
    return Finish(op, f(internal::OperandAs(op, "x1", a, d), internal::OperandAs(op, "x2", b, d)),
                  out);
}

}  // namespace chainerx::python
