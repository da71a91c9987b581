// The parameter `casting`: which conversions of dtypes a call allows.
#pragma once

#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

#define CX_CASTING_ARG                                                                        \
    "    casting (str): The casts that ``dtype`` and ``out`` may cause: 'same_kind' refuses " \
    "those to a lower\n"                                                                      \
    "        kind, 'safe' those that could lose information, 'no' and 'equiv' all, 'unsafe' " \
    "none.\n"

namespace chainerx::python {

// DtypeError if the conversion is not allowed; ValueError if there is no such rule. Null is
// 'same_kind'.
void CheckCasting(const char* op, const char* name, Dtype from, Dtype to, PyObject* casting);

// The arrays of a list or tuple to be joined, cast to `dtype` or to that of `out`, if one is given.
std::vector<Array> ToParts(const char* op, PyObject* arrays, PyObject* dtype, PyObject* casting,
                           PyObject* out = nullptr);

}  // namespace chainerx::python
