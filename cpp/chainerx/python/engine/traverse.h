// What Python's cycle collector sees of the graph: functions that users wrote, those of checkpoints
// among them, which visited objects alone keep alive, by way of nodes that nobody else refers to.
//
// The collector first visits, from each of its objects, what that refers to, and subtracts. A node
// of the graph is none of its objects, so its references to Python objects are reported by its
// owners (variables, variable nodes, functions): once in all, when the last of them has been
// visited, and only if they are all the node has. In later passes each owner that is alive reports
// all it can reach.
#pragma once

#include "chainerx/autograd/region.h"
#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

// `owner` holds one handle of the array.
int VisitGraph(const void* owner, const internal::ArrayBody* body, visitproc visit, void* arg);
// `owner` holds one reference to the slot.
int VisitSlot(const void* owner, const internal::Slot* slot, visitproc visit, void* arg);
// `owner` holds one reference to the region.
int VisitRegion(const void* owner, internal::Region* region, visitproc visit, void* arg);

// The payload of the region is a function from now on; or it goes.
void BecomeForeign(internal::Region* region);
void ForgetForeign(internal::Region* region);

void InitTraverse(PyObject* module);

}  // namespace chainerx::python::engine
