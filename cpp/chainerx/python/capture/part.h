// What Python adds to a step that is recorded: see part.cc.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python {

void InitCapturePart(PyObject* engine);

}  // namespace chainerx::python
