// Code of the program that runs in each replay (chainer.graph_optimizations.static_code).
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python {

void InitStaticCode(PyObject* engine);

}  // namespace chainerx::python
