// VariableNode: a slot of the graph as Python sees it.
#pragma once

#include "chainerx/autograd/graph.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

// The unique view of a slot, whose arrays have the given kind. New reference.
PyObject* NodeOf(internal::Slot* slot, Kind kind);
// The slot of the view.
internal::Slot* SlotOfNode(PyObject* node);
// Gives the view, if there is one, the name of a variable that is deallocated, unless it has its
// own.
void KeepName(const internal::Slot* slot, PyObject* name);

// Defines VariableNode, whose attributes, such as the gradient, are those of the variable.
void InitNode(PyObject* module);

}  // namespace chainerx::python::engine
