// Translates C++ exceptions to Python exceptions.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python {

// Creates the classes and adds them to the module.
void InitErrors(PyObject* module);

}  // namespace chainerx::python
