// Makes instances of nanobind classes refuse to be copied or pickled.
#pragma once

#include <nanobind/nanobind.h>

#include "chainerx/core/error.h"

namespace chainerx::python {

// Their __reduce__: without it Python would make an uninitialized instance.
inline nanobind::object RefuseCopies(nanobind::handle self) {
    throw TypeError{"cannot copy or pickle a ", Py_TYPE(self.ptr())->tp_name};
}

}  // namespace chainerx::python
