// The part of vmap in C++: dispatches calls with batches to python/chainerx/func.
//
// A batch, an instance of the class `Batched` there, is not an ndarray, so a routine that gets one
// fails to parse its arguments. Only then are the arguments searched for batches (FailOrConvert, in
// bind.h); calls without batches execute no additional instruction.
#pragma once

#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

bool IsBatch(PyObject* o);

// Like FailOrConvert, for x[index], while an exception is being handled.
CX_COLD PyObject* FailOrBatchItem(PyObject* self, PyObject* index) noexcept;
// For x.at[index], where `given` was refused: the replacement if it contains a batch. Rethrows the
// current exception if it does not.
CX_COLD Ref FailOrBatchAt(const char* op, const Array& x, PyObject* index, PyObject* given);
// For writes to an array of all examples: if an argument contains a batch, sets the error that says
// so. `value` may be null.
CX_COLD void FailOrBatchWrite(const char* op, PyObject* index, PyObject* value) noexcept;
// The same while no exception is being handled. Without it, Python would evaluate `x += batch` as x
// + batch and bind the name to the result.
CX_COLD void CheckNotBatch(const char* op, PyObject* value);

void InitBatching(PyObject* module);

}  // namespace chainerx::python
