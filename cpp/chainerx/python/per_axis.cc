#include "chainerx/python/per_axis.h"

#include "chainerx/python/convert.h"

namespace chainerx::python {
PerAxis ToPerAxis(const char* op, const char* name, PyObject* o) {
    if (const Ref sequence = TrySequence(o)) return PerAxis(ToShape(op, name, sequence.get()));
    return PerAxis(ToIntNotBool(op, name, o));
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
    const Ref sequence = TrySequence(o);
    if (!sequence) return AxisPads{ToPerAxis(op, "pad", o)};
    const Items items{sequence.get()};
    if (items.size() == 0) return AxisPads{ToPerAxis(op, "pad", sequence.get())};
    Shape before;
    Shape after;
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        const Ref inner = TrySequence(items[i]);
        if (!inner) return AxisPads{ToPerAxis(op, "pad", sequence.get())};
        const Shape pair = ToShape(op, "pad", inner.get());
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
