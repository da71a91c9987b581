// Hooks on gradients that are Python functions, and their visits by the cycle collector.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// A hook often refers to the array that it is attached to. It belongs to the slot of the array; if
// a single ndarray owns that slot, the ndarray reports the hook.
int VisitGradHooks(const internal::ArrayBody* body, visitproc visit, void* arg);
// Removes the hooks of an unreachable ndarray.
void ClearGradHooks(const internal::ArrayBody* body);

void InitGradHooks(PyObject* module);

}  // namespace chainerx::python
