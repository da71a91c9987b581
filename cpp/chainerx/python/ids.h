// Parses backprop ids among the arguments of bindings.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <vector>

#include "chainerx/core/context.h"
#include "chainerx/core/error.h"
#include "chainerx/python/bind.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {

inline BackpropId ToRequiredId(const char* op, const char* name, PyObject* o) {
    BackpropId* id = nullptr;
    if (nanobind::try_cast(nanobind::handle{o}, id) && id != nullptr) return *id;
    throw TypeError{op, ": ", name, " must be a chainerx.BackpropId, got ", Py_TYPE(o)->tp_name};
}

inline std::optional<BackpropId> ToId(const char* op, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToRequiredId(op, "backprop_id", o);
}

// Parses a list or tuple of them.
inline std::vector<BackpropId> ToIds(const char* op, const char* name, PyObject* o) {
    if (!PyList_Check(o) && !PyTuple_Check(o)) {
        throw TypeError{op, ": ", name, " must be a list or tuple of chainerx.BackpropId, got ",
                        Py_TYPE(o)->tp_name};
    }
    std::vector<BackpropId> ids;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o); ++i) {
        ids.push_back(ToRequiredId(op, name, PySequence_Fast_GET_ITEM(o, i)));
    }
    return ids;
}

}  // namespace chainerx::python
