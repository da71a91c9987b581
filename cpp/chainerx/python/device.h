// Devices, backends and contexts as Python objects (nanobind).
#pragma once

#include "chainerx/core/device.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// A new reference; one object per device.
PyObject* FromDevice(Device& device);
// Null if `o` is no Device.
Device* AsDevice(PyObject* o);

void InitDevice(PyObject* module);
void InitBackprop(PyObject* module);
void InitGraph(PyObject* module);
void InitKernels(PyObject* module);
void InitFunctional(PyObject* module);
// Gives what nanobind has bound in a module signatures and docstrings that inspect can read.
void Describe(PyObject* module);

}  // namespace chainerx::python
