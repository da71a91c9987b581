// What Python adds to a step that is recorded: see part.cc.
#pragma once

#include <cstdint>

#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// Whether somebody wants to see each call of a captured function.
bool IsWatched();
// How often hooks were added to links, or removed.
uint64_t CountHookChanges();

void InitCapturePart(PyObject* engine);

}  // namespace chainerx::python
