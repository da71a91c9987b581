// Translates C++ exceptions to Python exceptions.
#pragma once

#include "chainerx/python/bind.h"

namespace chainerx::python {

// Translates the exception that is being handled; returns what a function of CPython's API does
// then.
inline PyObject* Failed(const char* op = nullptr) noexcept {
    TranslateException(op);
    return nullptr;
}

// Creates the classes and adds them to the module.
void InitErrors(PyObject* module);

}  // namespace chainerx::python
