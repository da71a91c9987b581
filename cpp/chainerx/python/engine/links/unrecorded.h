// Calls of links where nothing is recorded: one composition over arrays, with a variable for each
// result only, instead of one for each function on the way.
#pragma once

#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

// The inputs of such a call. Type checks of functions have nothing to say where all of them are of
// one kind, one float dtype and one device, and shapes fit, which is the caller's to see.
class UnrecordedCall {
 public:
    explicit UnrecordedCall(const char* op) : op_{op} {}

    // The array of a variable or of the user's. False where only functions can tell what it is.
    bool Take(PyObject* o, Array& x);
    // The same of an array without a variable.
    bool Add(Kind kind, const Array& x, bool requires_grad);
    // A result, which is none of the inputs.
    PyObject* Wrap(Array y) const { return NewVariable(std::move(y), kind_, requires_grad_); }

 private:
    const char* op_;
    Kind kind_{Kind::kNone};
    bool requires_grad_{false};
    Dtype dtype_{};
    Device* device_{nullptr};
};

}  // namespace chainerx::python::engine
