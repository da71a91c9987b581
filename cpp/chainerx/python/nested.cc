#include "chainerx/python/nested.h"

#include <algorithm>
#include <vector>

#include "chainerx/core/array_body.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

bool IsNested(PyObject* o) { return PyList_Check(o) || PyTuple_Check(o); }

// Runs no Python code, so the lists do not change meanwhile.
bool HoldsGraph(PyObject* o, int depth = 0) {
    if (IsNdArray(o)) return Self(o).body()->slot != nullptr;
    if (!IsNested(o) || depth > kMaxNdim) return false;
    PyObject* const* items = PySequence_Fast_ITEMS(o);
    return std::any_of(items, items + PySequence_Fast_GET_SIZE(o),
                       [&](PyObject* item) { return HoldsGraph(item, depth + 1); });
}

Array Stacked(PyObject* o, const Array& values) {
    if (IsNdArray(o)) {
        const Array x = AsType(Self(o), values.dtype(), false);
        return &x.device() == &values.device() ? x : x.ToDevice(values.device());
    }
    const Items items{o};
    if (values.ndim() == 0 || items.size() != values.shape()[0]) {
        throw ChainerxError{"array: a list has changed while its arrays were read"};
    }
    std::vector<Array> parts;
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        const Array part = values.At({int64_t{i}});
        parts.push_back(HoldsGraph(items[i]) ? Stacked(items[i], part) : part);
    }
    return Stack(parts);
}

}  // namespace

Array WithGraphs(PyObject* o, const Array& values) {
    return IsNested(o) && HoldsGraph(o) ? Stacked(o, values) : values;
}

}  // namespace chainerx::python
