// What Python's cycle collector sees of the graph: functions that users wrote, which only the
// visited object keeps alive, by way of nodes that nobody else refers to.
#pragma once

#include "chainerx/autograd/region.h"
#include "chainerx/python/bind.h"

namespace chainerx::python::engine {

// From an array of which the visited object holds the only handle.
int VisitGraph(const internal::ArrayBody* body, visitproc visit, void* arg);
// From a region of which the visited object holds the only reference.
int VisitInputs(internal::Region* region, visitproc visit, void* arg);

// Whether the collector is about to look at all generations. The same until it is through.
void SetFullCollection(bool full);

}  // namespace chainerx::python::engine
