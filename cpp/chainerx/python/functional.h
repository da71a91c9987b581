// Python functions that the graph keeps, and their visits by the cycle collector.
#pragma once

#include "chainerx/autograd/graph.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// Visits the function that a checkpoint's node keeps for backward, if the node is its sole owner.
int VisitCheckpoint(internal::Node* node, visitproc visit, void* arg);

}  // namespace chainerx::python
