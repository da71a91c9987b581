// Binds elementwise functions by one row per name, in routines_elementwise.cc and its neighbours.
// The dtypes are those of the row's rule in ops/elementwise/tables/*.def.
#pragma once

#include "chainerx/python/binary.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/ndarray/ndarray.h"

#define CX_ARGS_X "\n\nArgs:\n    x (ndarray): Any shape, "
#define CX_ARGS_X1_X2                                      \
    "\n\n"                                                 \
    "Args:\n"                                              \
    "    x1 (ndarray or scalar): Broadcast with ``x2``.\n" \
    "    x2 (ndarray or scalar): At most one of the two is a scalar, which is weakly typed.\n"
#define CX_GRADIENT " Differentiable, any order.\n"
#define CX_NO_GRADIENT " Not differentiable.\n"
#define CX_SAME "Returns:\n    ndarray: Shape and dtype of ``x``."
#define CX_FLOAT \
    "Returns:\n    ndarray: Shape of ``x``, its float dtype; float32 for integers and bool."
#define CX_PROMOTED "Returns:\n    ndarray: Broadcast shape, promoted dtype."
#define CX_PROMOTED_FLOAT \
    "Returns:\n    ndarray: Broadcast shape, promoted float dtype; float32 for integers."
#define CX_BOOL "Returns:\n    ndarray: bool."
#define CX_RAISES_BOOL "Raises:\n    DtypeError: If an operand is bool."
#define CX_RAISES_COMPLEX "Raises:\n    DtypeError: If an operand is complex."

// CX_DOC expands to two arguments, so it is expanded first.
#define CX_UNARY(...) CX_UNARY_EXPANDED(__VA_ARGS__)
#define CX_UNARY_EXPANDED(py, Name, doc, dtypes, result)                           \
    CX_ELEMENTWISE(kRoutine, py, 1, "x: ndarray", CX_OPTIONS, &internal::Op##Name, \
                   doc CX_ARGS_X dtypes ".\n" CX_OPTION_ARGS result) {             \
        return Wrap(Name(ToArray(#py, "x", a[0])));                                \
    }
#define CX_COMPOSED(...) CX_COMPOSED_EXPANDED(__VA_ARGS__)
#define CX_COMPOSED_EXPANDED(py, Name, doc, dtypes, result)            \
    CX_ELEMENTWISE(kRoutine, py, 1, "x: ndarray", CX_OPTIONS, nullptr, \
                   doc CX_ARGS_X dtypes ".\n" CX_OPTION_ARGS result) { \
        return Wrap(Name(ToArray(#py, "x", a[0])));                    \
    }
#define CX_PREDICATE(...) CX_PREDICATE_EXPANDED(__VA_ARGS__)
#define CX_PREDICATE_EXPANDED(py, Name, doc, dtypes, result)                          \
    CX_ELEMENTWISE(kRoutine, py, 1, "x: ndarray", CX_OUT_OPTION, &internal::Op##Name, \
                   doc CX_ARGS_X dtypes ".\n" CX_OUT_ARGS result) {                   \
        return Wrap(Name(ToArray(#py, "x", a[0])));                                   \
    }
#define CX_BINARY_OPERANDS "x1: ndarray | Scalar, x2: ndarray | Scalar"
#define CX_CALL_BINARY(py, Name) \
    return CallBinary(#py, a, [](const auto& x1, const auto& x2) { return Name(x1, x2); });
#define CX_BINARY(py, Name, doc, result)                                                 \
    CX_ELEMENTWISE(kRoutine, py, 2, CX_BINARY_OPERANDS, CX_OPTIONS, &internal::Op##Name, \
                   doc CX_ARGS_X1_X2 CX_OPTION_ARGS result) {                            \
        CX_CALL_BINARY(py, Name)                                                         \
    }
#define CX_COMPOSED_BINARY(py, Name, doc, result)                            \
    CX_ELEMENTWISE(kRoutine, py, 2, CX_BINARY_OPERANDS, CX_OPTIONS, nullptr, \
                   doc CX_ARGS_X1_X2 CX_OPTION_ARGS result) {                \
        CX_CALL_BINARY(py, Name)                                             \
    }
#define CX_COMPARE(py, Name, doc, result)                                                   \
    CX_ELEMENTWISE(kRoutine, py, 2, CX_BINARY_OPERANDS, CX_OUT_OPTION, &internal::Op##Name, \
                   doc CX_ARGS_X1_X2 CX_OUT_ARGS result) {                                  \
        CX_CALL_BINARY(py, Name)                                                            \
    }
