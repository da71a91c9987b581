// x.at[index].set(values) and its kin.
#include <nanobind/nanobind.h>

#include <utility>

#include "chainerx/ops/arithmetic.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/index_update.h"
#include "chainerx/python/caster.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/ndarray.h"
#include "chainerx/python/ndarray_at.h"
#include "chainerx/python/ndarray_index.h"
#include "chainerx/python/values.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

struct Indexer {
    Array x;
};

// The key is kept as it was given: what is an array in it may be written to before it is used.
struct Place {
    Array x;
    std::vector<IndexItem> items;

    Array Values(const char* op, nb::handle values) const {
        return ToValues(op, "values", x, values.ptr());
    }
};

template <typename F>
auto Update(const char* op, const F& update) {
    return [op, update](const Place& p, nb::object values) {
        return update(p.x, p.items, p.Values(op, values));
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
    nb::class_<Indexer>(m, "_At", "What x.at is: to be indexed.")
        .def("__reduce__", &RefuseCopies)
        .def(
            "__getitem__",
            [](const Indexer& at, nb::object key) {
                return Place{at.x, ToItems(key.ptr(), at.x.device())};
            },
            nb::arg("key").none());
    nb::class_<Place>(m, "_AtIndex",
                      "Elements of an array that an index picks. The methods give a new array in "
                      "which they have changed,\nand leave the array as it is. Values are "
                      "broadcast, and cast to its dtype. Differentiable in the array and\nthe "
                      "values, any order.")
        .def("__reduce__", &RefuseCopies)
        .def(
            "get", [](const Place& p) { return Copy(At(p.x, p.items)); }, "x[index], a copy.")
        .def("set", Update("index_set", &UpdateBy<ScatterRule::kSet>), nb::arg("values").none(),
             "x[index] = values; of several for one element the last one stays.")
        .def("add", Update("index_add", &UpdateBy<ScatterRule::kAdd>), nb::arg("values").none(),
             "x[index] += values; several for one element are all added.")
        .def("subtract", Update("index_add", &Subtract), nb::arg("values").none(),
             "x[index] -= values; several for one element are all subtracted.")
        .def("multiply", Update("index_multiply", &UpdateBy<ScatterRule::kMultiply>),
             nb::arg("values").none(), "x[index] *= values; several for one element all count.")
        .def("mul", Update("index_multiply", &UpdateBy<ScatterRule::kMultiply>),
             nb::arg("values").none(), "The same as multiply().")
        .def("divide", Update("index_multiply", &IndexDivide), nb::arg("values").none(),
             "x[index] /= values; several for one element all count.")
        .def("power", Update("index_multiply", &IndexPower), nb::arg("values").none(),
             "x[index] **= values; several for one element all count.")
        .def("min", Update("index_min", &UpdateBy<ScatterRule::kMinimum>), nb::arg("values").none(),
             "The smaller of x[index] and all values for it; NaN if there is one. Equal ones share "
             "the gradient.")
        .def("max", Update("index_max", &UpdateBy<ScatterRule::kMaximum>), nb::arg("values").none(),
             "The larger of x[index] and all values for it; NaN if there is one. Equal ones share "
             "the gradient.")
        .def(
            "apply",
            [](const Place& p, nb::callable func) {
                const Array picked = At(p.x, p.items);
                const Array values = nb::cast<Array>(func(picked));
                return IndexUpdate(p.x, p.items, values, ScatterRule::kSet);
            },
            nb::arg("func"), "x[index] = func(x[index]).");
}

}  // namespace chainerx::python
