// How the reductions are bound: one row each, in routines_reduction.cc and routines_extreme.cc.
#pragma once

#include "chainerx/ops/reduction.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

#define CX_ANY_DTYPE "Any shape and dtype."
#define CX_NO_COMPLEX "Any shape, any dtype but complex ones."
#define CX_TOTAL                                                                 \
    "int64 for bool and integers (uint64 for uint64), else the dtype of ``a``. " \
    "Differentiable, any order."
#define CX_BAD_AXES "DimensionError: If an axis is out of range or repeated."

// Over several axes. `more`: what follows in the docstring.
#define CX_REDUCTION(py, Name, x, says, dtypes, result, more)                                      \
    CX_ROUTINE(py, #x ": ndarray, axis: Axis = None, keepdims: bool = False) -> ndarray",          \
               says                                                                                \
               "\n\nArgs:\n"                                                                       \
               "    " #x " (ndarray): " dtypes                                                     \
               "\n"                                                                                \
               "    axis: An axis, several, or None for all.\n"                                    \
               "    keepdims (bool): Keep reduced axes with length 1.\n"                           \
               "Returns:\n    ndarray: " result "\nRaises:\n    " CX_BAD_AXES more) {              \
        return Wrap(Name(ToArray(#py, #x, a[0]), ToAxes(#py, "axis", a[1]), ToBool(a[2], false))); \
    }

// Along one axis.
#define CX_ALONG_AXIS(py, Name, says, dtypes, result, more)                            \
    CX_ROUTINE(py, "a: ndarray, axis: int | None = None) -> ndarray",                  \
               says                                                                    \
               "\n\nArgs:\n"                                                           \
               "    a (ndarray): " dtypes                                              \
               "\n"                                                                    \
               "    axis (int): The axis, or None for the flattened array.\n"          \
               "Returns:\n    ndarray: " result                                        \
               "\nRaises:\n"                                                           \
               "    DimensionError: If the axis is out of range" more) {               \
        return Wrap(Name(ToArray(#py, "a", a[0]), ToOptionalAxis(#py, "axis", a[1]))); \
    }
