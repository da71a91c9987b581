// Where the arrays of a link are.
#pragma once

#include "chainerx/core/device.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/engine/variable.h"

namespace chainerx::python::engine {

// The device is null where only Python can tell.
struct LinkPlace {
    Kind kind{Kind::kNone};
    Device* device{nullptr};
};

LinkPlace PlaceOfLink(PyObject* link);

void InitLinkPlace();

}  // namespace chainerx::python::engine
