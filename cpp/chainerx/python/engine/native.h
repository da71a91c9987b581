// Compositions in C++: an entry calls them with arrays, without intermediate Python objects. Python
// sees them as functions of chainerx arrays, as any composition.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/application.h"
#include "chainerx/python/engine/small_array.h"

namespace chainerx::python::engine {

bool IsNative(PyObject* compose);

// Adds to the results. The inputs (a null array stands for None) may be moved from; there is a
// value for each attribute.
void CallNative(PyObject* native, SmallArray<Array>& inputs, PyObject* const* params,
                Results& results);

void InitNative(PyObject* module);

}  // namespace chainerx::python::engine
