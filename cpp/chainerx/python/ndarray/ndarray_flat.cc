// x.flat: the elements of an array in C order.
#include <nanobind/nanobind.h>

#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/rearrange.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/caster.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/copies.h"
#include "chainerx/python/ndarray/ndarray_at.h"
#include "chainerx/python/ndarray/ndarray_index.h"
#include "chainerx/python/values.h"

namespace nb = nanobind;

namespace chainerx::python {
namespace {

struct Flat {
    Array x;
};

// The indices of element i along each axis.
std::vector<ArrayIndex> PlaceOf(const Array& x, int64_t i) {
    const int64_t n = x.GetTotalSize();
    if (i < -n || i >= n) {
        throw IndexError{"flat: index ", i, " is out of range for an array of shape ", x.shape()};
    }
    if (i < 0) i += n;
    std::vector<ArrayIndex> index(static_cast<size_t>(x.ndim()), int64_t{0});
    for (int8_t a = x.ndim() - 1; a >= 0; --a) {
        index[static_cast<size_t>(a)] = i % x.shape()[a];
        i /= x.shape()[a];
    }
    return index;
}

// The key as one index; nullopt for other keys.
std::optional<int64_t> ToOne(nb::handle key) {
    if (IsNdArray(key.ptr()) || PyObject_TypeCheck(key.ptr(), Numpy().ndarray) ||
        PyBool_Check(key.ptr()) || !PyIndex_Check(key.ptr())) {
        return {};
    }
    const Py_ssize_t i = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
    if (i == -1 && PyErr_Occurred()) throw PythonError{};
    return i;
}

Array GetItems(const Flat& flat, nb::object key) {
    if (const auto i = ToOne(key)) return At(flat.x, PlaceOf(flat.x, *i));
    return Copy(Subscript(Ravel(flat.x), key.ptr()));
}

void SetItems(const Flat& flat, nb::object key, nb::object values) {
    const Array v = ToValues("flat", "values", flat.x, values.ptr());
    if (const auto i = ToOne(key)) {
        Assign(WritableAt(flat.x, PlaceOf(flat.x, *i)), v);
    } else {
        AssignFlat(flat.x, ToItems(key.ptr(), flat.x.device()), v);
    }
}

}  // namespace

PyObject* WrapFlat(const Array& x) { return nb::cast(Flat{x}).release().ptr(); }

void AssignFlat(const Array& x, PyObject* values) {
    AssignFlat(x, {{Slice{}, {}}}, ToValues("flat", "values", x, values));
}

void InitFlat(PyObject* module) {
    nb::class_<Flat>(nb::handle{module}, "_Flat",
                     "The attribute x.flat: the elements in C order, to read, write and iterate.")
        .def("__reduce__", &RefuseCopies)
        .def("__len__", [](const Flat& flat) { return flat.x.GetTotalSize(); })
        .def("__getitem__", &GetItems, nb::arg("key").none())
        .def("__setitem__", &SetItems, nb::arg("key").none(), nb::arg("values").none())
        .def(
            "__iter__", [](nb::handle self) { return nb::steal(PySeqIter_New(self.ptr())); },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[ndarray]"))
        .def(
            "copy", [](const Flat& flat) { return Flatten(flat.x); },
            "A copy of the elements, in one dimension. Differentiable.")
        .def_prop_ro("base", [](const Flat& flat) { return flat.x; }, "The array.");
}

}  // namespace chainerx::python
