#include "chainerx/python/casting.h"

#include <optional>
#include <string_view>

#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/rearrange.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"

namespace chainerx::python {
namespace {

// Asks numpy.can_cast.
bool CanCast(Dtype from, Dtype to, PyObject* casting) {
    const Ref f = Check(FromDtype(from));
    const Ref t = Check(FromDtype(to));
    const Ref answer =
        Check(PyObject_CallMethod(Numpy().module, "can_cast", "OOO", f.get(), t.get(), casting));
    return answer.get() == Py_True;
}

void CheckRule(const char* op, std::string_view rule) {
    for (const std::string_view known : {"no", "equiv", "safe", "same_kind", "unsafe"}) {
        if (rule == known) return;
    }
    throw ValueError{op, ": casting is '", rule,
                     "', expected 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'"};
}

bool IsAllowed(const char* op, Dtype from, Dtype to, PyObject* casting) {
    const std::string_view rule =
        casting == nullptr ? "same_kind" : ToString(op, "casting", casting);
    CheckRule(op, rule);
    if (rule == "unsafe") return true;
    if (rule == "same_kind") return GetCategory(from) <= GetCategory(to);
    if (rule == "no" || rule == "equiv") return from == to;
    return CanCast(from, to, casting);
}

}  // namespace

void CheckCasting(const char* op, const char* name, Dtype from, Dtype to, PyObject* casting) {
    if (IsAllowed(op, from, to, casting)) return;
    throw DtypeError{op,
                     ": ",
                     name,
                     " has dtype ",
                     from,
                     ", which casting '",
                     casting == nullptr ? "same_kind" : ToString(op, "casting", casting),
                     "' does not allow as ",
                     to};
}

std::vector<Array> ToParts(const char* op, PyObject* arrays, PyObject* dtype, PyObject* casting,
                           PyObject* out) {
    const bool of_rows = IsNdArray(arrays) && Self(arrays).ndim() > 0;
    std::vector<Array> parts = of_rows ? Unstack(Self(arrays)) : ToArrays(op, "arrays", arrays);
    std::optional<Dtype> to;
    if (Given(dtype)) to = ToDtype(dtype);
    if (const Array* array = ToOut(op, out)) {
        if (to) throw TypeError{op, ": dtype and out are both given, expected one of them"};
        to = array->dtype();
    }
    if (!to) {
        if (casting != nullptr) CheckRule(op, ToString(op, "casting", casting));
        return parts;
    }
    for (Array& part : parts) {
        CheckCasting(op, "an array", part.dtype(), *to, casting);
        part = AsType(part, *to, false);
    }
    return parts;
}

}  // namespace chainerx::python
