// The groups of type slots of ndarray, each defined in its own file.
#pragma once

#include <vector>

#include "chainerx/python/bind.h"

namespace chainerx::python {

void AddNumberSlots(std::vector<PyType_Slot>& slots);    // ndarray_number.cc
void AddMatmulSlot(std::vector<PyType_Slot>& slots);     // routines_linalg.cc
void AddSequenceSlots(std::vector<PyType_Slot>& slots);  // ndarray_index.cc
void AddProtocolSlots(std::vector<PyType_Slot>& slots);  // ndarray_protocol.cc
void AddBufferSlots(std::vector<PyType_Slot>& slots);    // ndarray_buffer.cc

// TypeError if `o`, the other operand of an operator, is a numpy.ndarray.
void CheckNotNumpy(const char* op, PyObject* o);

}  // namespace chainerx::python
