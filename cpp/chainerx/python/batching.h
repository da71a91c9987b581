// The part of vmap in C++: how calls with batches find their way to python/chainerx/func.
//
// A batch, an instance of the class `Batched` there, is no ndarray, so a routine that gets one
// fails to parse its arguments. Only then does anybody look for batches among them (FailOrConvert,
// in bind.h); what is called without them takes no instruction more than without vmap.
#pragma once

#include "chainerx/python/bind.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

bool IsBatch(PyObject* o);

// As FailOrConvert, for x[index], where an error is being handled.
CX_COLD PyObject* FailOrBatchItem(PyObject* self, PyObject* index) noexcept;
// For x.at[index], where `given` was refused: if there is a batch in it, what takes its place.
// Throws the error that is being handled if there is none.
CX_COLD Ref FailOrBatchAt(const char* op, const Array& x, PyObject* index, PyObject* given);
// For what is written to an array of all examples: if a batch is among the arguments, that is what
// is wrong with them. `value` may be null.
CX_COLD void FailOrBatchWrite(const char* op, PyObject* index, PyObject* value) noexcept;
// The same where no error is being handled. Of `x += batch`, Python would make x + batch, and bind
// the name to it.
CX_COLD void CheckNotBatch(const char* op, PyObject* value);

void InitBatching(PyObject* module);

}  // namespace chainerx::python
