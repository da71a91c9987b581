// LinkStep: a step of a recurrent link whose layers are Linear.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

void InitLinkStep(PyObject* module);

}  // namespace chainerx::python::engine
