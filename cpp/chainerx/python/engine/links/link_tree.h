// LinkTree: the calls of tree-LSTMs.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitLinkTree(PyObject* module);

}  // namespace chainerx::python::engine
