// Reshaping and moving axes, as routines and as methods.
#include "chainerx/core/error.h"
#include "chainerx/ops/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"

namespace chainerx::python {
namespace {

// The shape in reshape(6, 2), reshape((6, 2)), or under its keyword. Bound by hand, because a tuple
// for "*newshape" would cost as much as the rest of the call.
Shape NewShape(PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    if (keywords != nullptr && PyTuple_GET_SIZE(keywords) != 0) {
        PyObject* key = PyTuple_GET_ITEM(keywords, 0);
        const std::string_view name = ToString("reshape", "keyword", key);
        if (name != "newshape" && name != "shape") {
            throw TypeError{"reshape() got an unexpected keyword argument '", name, "'"};
        }
        if (n != 0 || PyTuple_GET_SIZE(keywords) != 1) {
            throw TypeError{"reshape() got multiple values for argument 'newshape'"};
        }
        return ToShape("reshape", "newshape", args[0]);
    }
    if (n == 0) throw TypeError{"reshape() missing required argument: 'newshape'"};
    if (n == 1) return ToShape("reshape", "newshape", args[0]);
    Shape shape;
    for (Py_ssize_t i = 0; i < n; ++i)
        shape.push_back(ToIntNotBool("reshape", "newshape", args[i]));
    return shape;
}

PyObject* ReshapeMethod(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    try {
        return Wrap(Reshape(Self(self), NewShape(args, n, keywords)));
    } catch (...) {
        TranslateException("reshape");
        return nullptr;
    }
}

PyObject* ReshapeRoutine(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    try {
        if (n == 0) throw TypeError{"reshape() missing required argument: 'a'"};
        return Wrap(Reshape(ToArray("reshape", "a", args[0]), NewShape(args + 1, n - 1, keywords)));
    } catch (...) {
        TranslateException("reshape");
        return nullptr;
    }
}

ArgSpec g_reshape_method_spec{"reshape", "*newshape: int | Sequence[int]) -> ndarray"};
const Binding g_reshape_method{Binding::kMethod, g_reshape_method_spec, "See chainerx.reshape().",
                               &ReshapeMethod};
ArgSpec g_reshape_spec{"reshape", "a: ndarray, *newshape: int | Sequence[int]) -> ndarray"};
const Binding g_reshape{
    Binding::kRoutine, g_reshape_spec,
    "The same elements in another shape, given as a tuple or as integers; one of them may be "
    "-1.\n\n"
    "Returns:\n    ndarray: A view if the layout allows it. Differentiable, any order.\n"
    "Raises:\n    DimensionError: If the sizes differ.",
    &ReshapeRoutine};

CX_ROUTINE(ravel, "a: ndarray) -> ndarray",
           "The elements in one dimension; a view if the layout allows it. Differentiable.") {
    return Wrap(Ravel(ToArray("ravel", "a", a[0])));
}
CX_METHOD(ravel, ") -> ndarray", "See chainerx.ravel().") { return Wrap(Ravel(Self(self))); }
CX_METHOD(flatten, ") -> ndarray", "A copy in one dimension. Differentiable.") {
    return Wrap(Flatten(Self(self)));
}

CX_ROUTINE(transpose, "a: ndarray, axes: Axis = None) -> ndarray",
           "A view with the axes in another order, reversed by default. Differentiable.\n\n"
           "Raises:\n    DimensionError: If ``axes`` is not a permutation.") {
    return Wrap(Transpose(ToArray("transpose", "a", a[0]), ToAxes("transpose", "axes", a[1])));
}

CX_METHOD(transpose, "*axes: int | Sequence[int] | None) -> ndarray",
          "See chainerx.transpose(); axes are given one by one, or as a tuple.") {
    const Py_ssize_t n = PyTuple_GET_SIZE(a[0]);
    if (n == 0) return Wrap(Transpose(Self(self)));
    return Wrap(Transpose(Self(self),
                          ToAxes("transpose", "axes", n == 1 ? PyTuple_GET_ITEM(a[0], 0) : a[0])));
}

CX_ROUTINE(squeeze, "a: ndarray, axis: Axis = None) -> ndarray",
           "A view without axes of length 1: all, or those given. Differentiable.\n\n"
           "Raises:\n    DimensionError: If an axis is longer.") {
    return Wrap(Squeeze(ToArray("squeeze", "a", a[0]), ToAxes("squeeze", "axis", a[1])));
}
CX_METHOD(squeeze, "axis: Axis = None) -> ndarray", "See chainerx.squeeze().") {
    return Wrap(Squeeze(Self(self), ToAxes("squeeze", "axis", a[0])));
}

CX_ROUTINE(expand_dims, "a: ndarray, axis: int | Sequence[int]) -> ndarray",
           "A view with new axes of length 1, at these places in the result. Differentiable.") {
    const Array& x = ToArray("expand_dims", "a", a[0]);
    const OptionalAxes axes = ToAxes("expand_dims", "axis", a[1]);
    if (!axes) throw TypeError{"expand_dims: axis must be an integer, got NoneType"};
    return Wrap(ExpandDims(x, *axes));
}

CX_ROUTINE(swapaxes, "a: ndarray, axis1: int, axis2: int) -> ndarray",
           "A view with two axes exchanged. Differentiable.") {
    return Wrap(Swapaxes(ToArray("swapaxes", "a", a[0]), ToAxis("swapaxes", "axis1", a[1]),
                         ToAxis("swapaxes", "axis2", a[2])));
}
CX_METHOD(swapaxes, "axis1: int, axis2: int) -> ndarray", "See chainerx.swapaxes().") {
    return Wrap(
        Swapaxes(Self(self), ToAxis("swapaxes", "axis1", a[0]), ToAxis("swapaxes", "axis2", a[1])));
}

CX_ROUTINE(moveaxis,
           "a: ndarray, source: int | Sequence[int], destination: int | Sequence[int]) -> ndarray",
           "A view with axes moved to other places, the others in their order. Differentiable.") {
    const Array& x = ToArray("moveaxis", "a", a[0]);
    const OptionalAxes source = ToAxes("moveaxis", "source", a[1]);
    const OptionalAxes destination = ToAxes("moveaxis", "destination", a[2]);
    if (!source || !destination) throw TypeError{"moveaxis: axes must be integers, got NoneType"};
    return Wrap(Moveaxis(x, *source, *destination));
}

CX_ROUTINE(rollaxis, "a: ndarray, axis: int, start: int = 0) -> ndarray",
           "A view with an axis moved to before `start`. Differentiable.") {
    return Wrap(Rollaxis(ToArray("rollaxis", "a", a[0]), ToAxis("rollaxis", "axis", a[1]),
                         a[2] != nullptr ? ToAxis("rollaxis", "start", a[2]) : int8_t{0}));
}

CX_ROUTINE(flip, "m: ndarray, axes: Axis = None) -> ndarray",
           "A view with axes reversed, all by default. Differentiable.") {
    return Wrap(Flip(ToArray("flip", "m", a[0]), ToAxes("flip", "axes", a[1])));
}
CX_ROUTINE(fliplr, "m: ndarray) -> ndarray", "A view with axis 1 reversed. Differentiable.") {
    return Wrap(Fliplr(ToArray("fliplr", "m", a[0])));
}
CX_ROUTINE(flipud, "m: ndarray) -> ndarray", "A view with axis 0 reversed. Differentiable.") {
    return Wrap(Flipud(ToArray("flipud", "m", a[0])));
}

CX_ROUTINE(atleast_1d, "x: ndarray) -> ndarray",
           "The array with at least 1 dimension. Differentiable.") {
    return Wrap(AtLeast1D(ToArray("atleast_1d", "x", a[0])));
}
CX_ROUTINE(atleast_2d, "x: ndarray) -> ndarray",
           "The array with at least 2 dimensions, new ones first. Differentiable.") {
    return Wrap(AtLeast2D(ToArray("atleast_2d", "x", a[0])));
}
CX_ROUTINE(atleast_3d, "x: ndarray) -> ndarray",
           "The array with at least 3 dimensions, as numpy.atleast_3d. Differentiable.") {
    return Wrap(AtLeast3D(ToArray("atleast_3d", "x", a[0])));
}

}  // namespace
}  // namespace chainerx::python
