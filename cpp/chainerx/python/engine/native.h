// Compositions in C++: an entry calls them with arrays, without Python objects in between. To
// Python they are functions of chainerx arrays, as any composition.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/application.h"
#include "chainerx/python/engine/few.h"

namespace chainerx::python::engine {

bool IsNative(PyObject* compose);

// Adds to the results. With the inputs (a null array stands for None), which may be moved from, and
// a value for each attribute.
void CallNative(PyObject* native, Few<Array>& inputs, PyObject* const* params, Results& results);

void InitNative(PyObject* module);

}  // namespace chainerx::python::engine
