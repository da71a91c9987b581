// x.at[index].set(values) and the other updates.
#include <nanobind/nanobind.h>

#include <optional>

#include "chainerx/ops/elementwise/tables/arithmetic.h"
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/python/batching.h"
#include "chainerx/python/caster.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ndarray/ndarray_at.h"
#include "chainerx/python/ndarray/ndarray_index.h"
#include "chainerx/python/values.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

struct Indexer {
    Array x;
};

// The items are parsed when the key is given, since an array in it may be written to before it is
// used. The key itself is for batches.
struct Place {
    Array x;
    std::vector<IndexItem> items;
    nb::object key;
};

bool IsAny(PyObject*) { return true; }

// The result of a binding, or its replacement under vmap.
struct ArrayLike : nb::object {
    NB_OBJECT(ArrayLike, nb::object, "chainerx._core.ndarray", IsAny)
};
struct PlaceLike : nb::object {
    NB_OBJECT(PlaceLike, nb::object, "chainerx._core._AtIndex", IsAny)
};

PlaceLike PlaceOf(const Indexer& at, const nb::object& key) {
    try {
        return nb::borrow<PlaceLike>(nb::cast(Place{at.x, ToItems(key.ptr(), at.x.device()), key}));
    } catch (...) {
        return nb::steal<PlaceLike>(FailOrBatchAt("getitem", at.x, key.ptr(), key.ptr()).Release());
    }
}

// A method with this name.
auto Update(const char* name, const char* op, const auto& update) {
    return [name, op, update](const Place& p, const nb::object& values) -> ArrayLike {
        std::optional<Array> given;
        try {
            given = ToValues(op, "values", p.x, values.ptr());
        } catch (...) {
            const Ref place = FailOrBatchAt(op, p.x, p.key.ptr(), values.ptr());
            const Ref key = Check(PyUnicode_FromString(name));
            return nb::steal<ArrayLike>(
                Check(PyObject_CallMethodOneArg(place.get(), key.get(), values.ptr())).Release());
        }
        return nb::steal<ArrayLike>(Wrap(update(p.x, p.items, *given)));
    };
}

template <ScatterRule kRule>
Array UpdateBy(const Array& x, const std::vector<IndexItem>& items, const Array& values) {
    return IndexUpdate(x, items, values, kRule);
}

Array Subtract(const Array& x, const std::vector<IndexItem>& items, const Array& values) {
    internal::CheckWrittenDtype("index_add", x, values);
    const Array negative = Negative(AsType(values, x.dtype(), false));
    return IndexUpdate(x, items, negative, ScatterRule::kAdd);
}

}  // namespace

PyObject* WrapAt(const Array& x) { return nb::cast(Indexer{x}).release().ptr(); }

void InitAt(PyObject* module) {
    nb::handle m{module};
    nb::class_<Indexer>(m, "_At", "The attribute x.at; it is indexed.")
        .def("__reduce__", &RefuseCopies)
        .def("__getitem__", &PlaceOf, nb::arg("key").none());
    nb::class_<Place>(m, "_AtIndex",
                      "Elements of an array at an index. The methods return a new array in which "
                      "these have changed,\n"
                      "and leave the array unchanged. Values are arrays, numbers or lists of no "
                      "higher kind than the\n"
                      "dtype of the array; they are cast to it and broadcast. Differentiable in "
                      "the array and the values, any order.\n\n"
                      "Raises:\n"
                      "    DtypeError: If the values are of a higher kind than the array.\n"
                      "    OverflowError: If the dtype does not hold an integer.\n"
                      "    IndexError: If an index is out of range.\n"
                      "    DimensionError: If the values do not broadcast to the elements.")
        .def("__reduce__", &RefuseCopies)
        .def(
            "get", [](const Place& p) { return Copy(At(p.x, p.items)); }, "x[index], a copy.")
        .def("set", Update("set", "index_set", &UpdateBy<ScatterRule::kSet>),
             nb::arg("values").none(),
             "x[index] = values; the last one wins where several are for one element.")
        .def("add", Update("add", "index_add", &UpdateBy<ScatterRule::kAdd>),
             nb::arg("values").none(), "x[index] += values; several for one element accumulate.")
        .def("subtract", Update("subtract", "index_add", &Subtract), nb::arg("values").none(),
             "x[index] -= values; several for one element accumulate.")
        .def("multiply", Update("multiply", "index_multiply", &UpdateBy<ScatterRule::kMultiply>),
             nb::arg("values").none(), "x[index] *= values; several for one element accumulate.")
        .def("mul", Update("mul", "index_multiply", &UpdateBy<ScatterRule::kMultiply>),
             nb::arg("values").none(), "The same as multiply().")
        .def("divide", Update("divide", "index_multiply", &IndexDivide), nb::arg("values").none(),
             "x[index] /= values; several for one element accumulate. The result is float32 for "
             "integers.")
        .def("power", Update("power", "index_multiply", &IndexPower), nb::arg("values").none(),
             "x[index] **= values; several for one element accumulate.")
        .def("min", Update("min", "index_min", &UpdateBy<ScatterRule::kMinimum>),
             nb::arg("values").none(),
             "The minimum of x[index] and all values for it; NaN if one is NaN. Equal ones share "
             "the gradient.")
        .def("max", Update("max", "index_max", &UpdateBy<ScatterRule::kMaximum>),
             nb::arg("values").none(),
             "The maximum of x[index] and all values for it; NaN if one is NaN. Equal ones share "
             "the gradient.")
        .def(
            "apply",
            [](const Place& p, nb::callable func) {
                const nb::object values = func(At(p.x, p.items));
                return Update("set", "index_set", &UpdateBy<ScatterRule::kSet>)(p, values);
            },
            nb::arg("func"), "x[index] = func(x[index]).");
}

}  // namespace chainerx::python
