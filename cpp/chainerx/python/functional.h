// Functions of Python that the graph keeps, and what the cycle collector sees of them.
#pragma once

#include "chainerx/autograd/graph.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// The function that a node of a checkpoint keeps for backward, if it alone does.
int VisitCheckpoint(internal::Node* node, visitproc visit, void* arg);

}  // namespace chainerx::python
