// LinkSequences: the call of a recurrent link over whole sequences.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitLinkSequences(PyObject* module);

}  // namespace chainerx::python::engine
