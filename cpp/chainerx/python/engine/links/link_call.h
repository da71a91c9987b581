// LinkCall: `__call__` of links whose usual call is all in C++.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitLinkCall(PyObject* module);

}  // namespace chainerx::python::engine
