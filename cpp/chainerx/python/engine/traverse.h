// The part of the graph that Python's cycle collector sees: functions that users wrote, including
// those of checkpoints, which the visited objects alone keep alive, through nodes that nothing else
// refers to.
//
// The collector first visits all references of each of its objects, and subtracts. A node of the
// graph is not one of its objects, so its references to Python objects are reported by its owners
// (variables, variable nodes, functions): once in all, when the last of them has been visited, and
// only if they are all the owners of the node. In later passes each owner that is alive reports all
// it can reach.
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

// Makes the payload of the region a function, or removes it.
void BecomeForeign(internal::Region* region);
void ForgetForeign(internal::Region* region);

void InitTraverse(PyObject* module);

}  // namespace chainerx::python::engine
