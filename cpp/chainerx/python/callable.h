// Python functions that the library keeps.
#pragma once

#include <memory>

#include "chainerx/python/bind.h"
#include "chainerx/python/interop/deferred.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {

// Its copies share the function; any thread may release it.
class Callable {
 public:
    explicit Callable(PyObject* f)
        : f_{Py_NewRef(f), [](PyObject* o) {
                 ReleaseWithGil(o, [](void* owner) { Py_DECREF(static_cast<PyObject*>(owner)); });
             }} {}

    PyObject* get() const { return f_.get(); }
    bool IsSole() const { return f_.use_count() == 1; }

    Ref operator()(PyObject* argument) const {
        return Check(PyObject_CallOneArg(f_.get(), argument));
    }

 private:
    std::shared_ptr<PyObject> f_;
};

}  // namespace chainerx::python
