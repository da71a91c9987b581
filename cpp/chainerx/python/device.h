// Devices, backends and contexts as Python objects (nanobind).
#pragma once

#include "chainerx/core/device.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// A new reference; one object per device.
PyObject* FromDevice(Device& device);
// Null if `o` is not a Device.
Device* AsDevice(PyObject* o);

void InitDevice(PyObject* module);
void InitBackprop(PyObject* module);
void InitCuda(PyObject* module);
void InitGraph(PyObject* module);
void InitKernels(PyObject* module);
void InitFunctional(PyObject* module);
// Replaces the functions that nanobind has bound in a module by ones whose signatures and
// docstrings inspect can read.
void Describe(PyObject* module);

}  // namespace chainerx::python
