#include "chainerx/python/per_axis.h"

#include "chainerx/core/error.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {
namespace {

bool IsSequence(PyObject* o) { return PyTuple_Check(o) || PyList_Check(o); }

}  // namespace

PerAxis ToPerAxis(const char* op, const char* name, PyObject* o) {
    return IsSequence(o) ? PerAxis(ToShape(op, name, o)) : PerAxis(ToIntNotBool(op, name, o));
}

PerAxis ToPerAxisOr(const char* op, const char* name, PyObject* o, int64_t fallback) {
    return o == nullptr ? PerAxis(fallback) : ToPerAxis(op, name, o);
}

std::optional<PerAxis> ToOptionalPerAxis(const char* op, const char* name, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToPerAxis(op, name, o);
}

AxisPads ToAxisPads(const char* op, PyObject* o) {
    if (o == nullptr) return 0;
    if (!IsSequence(o)) return AxisPads{ToPerAxis(op, "pad", o)};
    const Items items{o};
    bool pairs = items.size() > 0;
    for (Py_ssize_t i = 0; i < items.size(); ++i) pairs = pairs && IsSequence(items[i]);
    if (!pairs) return AxisPads{ToPerAxis(op, "pad", o)};
    Shape before;
    Shape after;
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        const Shape pair = ToShape(op, "pad", items[i]);
        if (pair.ndim() != 2) {
            throw DimensionError{op,      ": pad[", int64_t{i},
                                 "] is ", pair,     ", expected (before, after)"};
        }
        before.push_back(pair[0]);
        after.push_back(pair[1]);
    }
    return AxisPads{PerAxis(before), PerAxis(after)};
}

}  // namespace chainerx::python
