// VariableNode: a place in the graph as Python sees it.
#pragma once

#include "chainerx/autograd/graph.h"
#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

// The one view of a slot. New reference.
PyObject* NodeOf(internal::Slot* slot);

// The variable's gradient as an attribute of its node, and so on.
void InitNode(PyObject* module);

}  // namespace chainerx::python::engine
