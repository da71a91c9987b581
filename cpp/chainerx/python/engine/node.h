// VariableNode: a place in the graph as Python sees it.
#pragma once

#include "chainerx/autograd/graph.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

// The one view of a slot, whose arrays are of that kind. New reference.
PyObject* NodeOf(internal::Slot* slot, Kind kind);
// What it is the view of.
internal::Slot* SlotOfNode(PyObject* node);
// The view, if there is one, keeps the name of a variable that goes, unless it has its own.
void KeepName(const internal::Slot* slot, PyObject* name);

// The variable's gradient as an attribute of its node, and so on.
void InitNode(PyObject* module);

}  // namespace chainerx::python::engine
