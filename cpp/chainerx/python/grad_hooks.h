// Hooks on gradients that are functions of Python, and what its cycle collector sees of them.
#pragma once

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// A hook often refers to the array that it is a hook of. It belongs to the place of the array in
// the graph; where nobody but one ndarray keeps that place, it is the ndarray that keeps the hook.
int VisitGradHooks(const internal::ArrayBody* body, visitproc visit, void* arg);
// Of an ndarray that is garbage.
void ClearGradHooks(const internal::ArrayBody* body);

void InitGradHooks(PyObject* module);

}  // namespace chainerx::python
