// The calls of recurrent links.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitRecurrentLinks(PyObject* module);

}  // namespace chainerx::python::engine
