// The Python exceptions of the C++ ones.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python {

// Creates the classes and adds them to the module.
void InitErrors(PyObject* module);

}  // namespace chainerx::python
