// Reshaping and moving axes, as routines and as methods.
#include <optional>
#include <string_view>

#include "chainerx/ops/shape/creation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/element_order.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

// The shape in reshape(6, 2) or reshape((6, 2)). Parsed by hand, because a tuple for "*more" would
// cost as much as the rest of the call.
Shape NewShape(PyObject* const* args, Py_ssize_t n) {
    if (n == 1) return ToShape("reshape", "shape", args[0]);
    if (n == 0) throw TypeError{"reshape() missing required argument: 'shape'"};
    Shape shape;
    for (Py_ssize_t i = 0; i < n; ++i) shape.push_back(ToIntNotBool("reshape", "shape", args[i]));
    return shape;
}

CX_COLD Array ReshapeWithKeywords(const Array& x, PyObject* const* args, Py_ssize_t n,
                                  PyObject* keywords) {
    std::optional<Shape> shape;
    std::optional<bool> copy;
    ElementOrder order = ElementOrder::kC;
    if (n != 0) shape = NewShape(args, n);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keywords); ++i) {
        PyObject* const value = args[n + i];
        const std::string_view name = ToString("reshape", "keyword", PyTuple_GET_ITEM(keywords, i));
        if (name == "copy") {
            if (value != Py_None) copy = ToBool(value, false);
        } else if (name == "order") {
            order = ToElementOrder("reshape", value);
        } else if (name != "newshape" && name != "shape") {
            throw TypeError{"reshape() got an unexpected keyword argument '", name, "'"};
        } else if (shape) {
            throw TypeError{"reshape() got multiple values for argument 'shape'"};
        } else {
            shape = ToShape("reshape", "shape", value);
        }
    }
    if (!shape) throw TypeError{"reshape() missing required argument: 'shape'"};
    const Array y = Reshape(x, *shape, order);
    if (!copy) return y;
    if (y.buffer() == x.buffer()) return *copy ? Copy(y) : y;
    if (*copy) return y;
    return Reshape(x, *shape, false);
}

PyObject* ReshapeMethod(PyObject* self, PyObject* const* args, Py_ssize_t n,
                        PyObject* keywords) try {
    if (keywords != nullptr) {
        return Wrap(ReshapeWithKeywords(Self(self), args, n, keywords));
    }
    return Wrap(Reshape(Self(self), NewShape(args, n)));
} catch (...) {
    return Failed("reshape");
}

ArgSpec g_reshape_spec{"reshape",
                       "a: ndarray, shape: int | Sequence[int], *more: int, order: str = 'C', "
                       "copy: bool | None = None) -> ndarray"};

PyObject* ReshapeRoutine(PyObject*, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
    try {
        if (n == 0) throw TypeError{"reshape() missing required argument: 'a'"};
        const Array& x = ToArray("reshape", "a", args[0]);
        if (keywords != nullptr) return Wrap(ReshapeWithKeywords(x, args + 1, n - 1, keywords));
        return Wrap(Reshape(x, NewShape(args + 1, n - 1)));
    } catch (...) {
        return FailOrConvert(g_reshape_spec, nullptr, args, n, keywords);
    }
}

ArgSpec g_reshape_method_spec{
    "reshape",
    "*shape: int | Sequence[int], order: str = 'C', copy: bool | None = None) -> ndarray"};
const Binding g_reshape_method{Binding::kMethod, g_reshape_method_spec, "See chainerx.reshape().",
                               &ReshapeMethod};
const Binding g_reshape{
    Binding::kRoutine, g_reshape_spec,
    "Gives the elements another shape.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape and dtype.\n"
    "    shape (int or tuple of int): The new shape; one length may be -1. ``newshape`` is an "
    "alias.\n"
    "    *more (int): The lengths of further axes, where ``shape`` is an integer.\n"
    "    order (str): The order in which elements are read and placed: 'C', 'F' or 'A', as for "
    ":func:`ravel`.\n"
    "    copy (bool): Whether to copy; None copies only if the layout requires it.\n"
    "Returns:\n"
    "    ndarray: A view if the layout allows it. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If the sizes differ.\n"
    "    ValueError: If ``copy`` is False and there is no such view, or ``order`` is unknown.",
    &ReshapeRoutine};

CX_ROUTINE(ravel, "a: ndarray, order: str = 'C') -> ndarray",
           "Flattens an array to one dimension.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    order (str): 'C': the last axis varies fastest; 'F': the first one does; 'A': 'F' "
           "if ``a`` is\n"
           "        F-contiguous, else 'C'; 'K': as in memory.\n"
           "Returns:\n"
           "    ndarray: A view if the layout allows it. Differentiable, any order.\n"
           "Raises:\n"
           "    ValueError: If ``order`` is unknown.") {
    return Wrap(Ravel(ToArray("ravel", "a", a[0]), ToElementOrder("ravel", a[1])));
}
CX_METHOD(ravel, "order: str = 'C') -> ndarray", "See chainerx.ravel().") {
    return Wrap(Ravel(Self(self), ToElementOrder("ravel", a[0])));
}
CX_METHOD(flatten, "order: str = 'C') -> ndarray",
          "A copy in one dimension; ``order`` is as for chainerx.ravel(). Differentiable.") {
    return Wrap(Flatten(Self(self), ToElementOrder("flatten", a[0])));
}

CX_ROUTINE(transpose, "a: ndarray, axes: Axis = None) -> ndarray",
           "Permutes the axes of an array.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axes (tuple of int): The source of each axis of the result; None reverses them.\n"
           "Returns:\n"
           "    ndarray: A view. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If ``axes`` is not a permutation.") {
    return Wrap(Transpose(ToArray("transpose", "a", a[0]), ToAxes("transpose", "axes", a[1])));
}

CX_ALIAS(permute_dims, transpose)

CX_METHOD(transpose, "*axes: int | Sequence[int] | None) -> ndarray",
          "See chainerx.transpose(); axes are given one by one, or as a tuple.") {
    const Py_ssize_t n = PyTuple_GET_SIZE(a[0]);
    if (n == 0) return Wrap(Transpose(Self(self)));
    return Wrap(Transpose(Self(self),
                          ToAxes("transpose", "axes", n == 1 ? PyTuple_GET_ITEM(a[0], 0) : a[0])));
}

CX_ROUTINE(squeeze, "a: ndarray, axis: Axis = None) -> ndarray",
           "Removes axes of length 1.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis (int or tuple of int): The axes to remove; None means all of length 1.\n"
           "Returns:\n"
           "    ndarray: A view. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If an axis is longer, or does not exist.") {
    return Wrap(Squeeze(ToArray("squeeze", "a", a[0]), ToAxes("squeeze", "axis", a[1])));
}
CX_METHOD(squeeze, "axis: Axis = None) -> ndarray", "See chainerx.squeeze().") {
    return Wrap(Squeeze(Self(self), ToAxes("squeeze", "axis", a[0])));
}

CX_ROUTINE(expand_dims, "a: ndarray, axis: int | Sequence[int]) -> ndarray",
           "Inserts axes of length 1.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis (int or tuple of int): Their positions in the result.\n"
           "Returns:\n"
           "    ndarray: A view. Differentiable, any order.\n"
           "Raises:\n"
           "    AxisError: If a position is out of range.\n"
           "    DimensionError: If one is given twice.") {
    const Array& x = ToArray("expand_dims", "a", a[0]);
    const OptionalAxes axes = ToAxes("expand_dims", "axis", a[1]);
    if (!axes) throw TypeError{"expand_dims: axis must be an integer, got NoneType"};
    return Wrap(ExpandDims(x, *axes));
}

CX_ROUTINE(swapaxes, "a: ndarray, axis1: int, axis2: int) -> ndarray",
           "Swaps two axes.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    axis1, axis2 (int): The axes; negative ones count from the end.\n"
           "Returns:\n"
           "    ndarray: A view. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If there is no such axis.") {
    return Wrap(Swapaxes(ToArray("swapaxes", "a", a[0]), ToAxis("swapaxes", "axis1", a[1]),
                         ToAxis("swapaxes", "axis2", a[2])));
}
CX_METHOD(swapaxes, "axis1: int, axis2: int) -> ndarray", "See chainerx.swapaxes().") {
    return Wrap(
        Swapaxes(Self(self), ToAxis("swapaxes", "axis1", a[0]), ToAxis("swapaxes", "axis2", a[1])));
}

CX_ROUTINE(
    moveaxis,
    "a: ndarray, source: int | Sequence[int], destination: int | Sequence[int]) -> ndarray",
    "Moves axes to other positions; the others keep their order.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape and dtype.\n"
    "    source (int or tuple of int): The axes to move.\n"
    "    destination (int or tuple of int): Their positions in the result.\n"
    "Returns:\n"
    "    ndarray: A view. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If an axis does not exist or is given twice, or the numbers differ.") {
    const Array& x = ToArray("moveaxis", "a", a[0]);
    const OptionalAxes source = ToAxes("moveaxis", "source", a[1]);
    const OptionalAxes destination = ToAxes("moveaxis", "destination", a[2]);
    if (!source || !destination) throw TypeError{"moveaxis: axes must be integers, got NoneType"};
    return Wrap(Moveaxis(x, *source, *destination));
}

CX_ROUTINE(
    rollaxis, "a: ndarray, axis: int, start: int = 0) -> ndarray",
    "Moves an axis to before another one.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape and dtype.\n"
    "    axis (int): The axis to move.\n"
    "    start (int): The axis that it is moved before; the number of dimensions means the end.\n"
    "Returns:\n"
    "    ndarray: A view. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there is no such axis.") {
    return Wrap(Rollaxis(ToArray("rollaxis", "a", a[0]), ToAxis("rollaxis", "axis", a[1]),
                         a[2] != nullptr ? ToAxis("rollaxis", "start", a[2]) : int8_t{0}));
}

CX_ROUTINE(flip, "m: ndarray, axes: Axis = None, *, axis: Axis = None) -> ndarray",
           "Reverses the order of elements along axes.\n\n"
           "Args:\n"
           "    m (ndarray): Any shape and dtype.\n"
           "    axes (int or tuple of int): The axes to reverse; None means all.\n"
           "    axis (int or tuple of int): Alias of ``axes``, NumPy's name.\n"
           "Returns:\n"
           "    ndarray: A view. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If an axis does not exist, or is given twice.\n"
           "    TypeError: If both ``axes`` and ``axis`` are given.") {
    if (Given(a[1]) && Given(a[2])) throw TypeError{"flip: both axes and axis are given"};
    return Wrap(Flip(ToArray("flip", "m", a[0]), ToAxes("flip", "axes", a[Given(a[2]) ? 2 : 1])));
}
CX_ROUTINE(fliplr, "m: ndarray) -> ndarray",
           "Reverses the order of elements along axis 1.\n\n"
           "Args:\n"
           "    m (ndarray): 2 dimensions or more, any dtype.\n"
           "Returns:\n"
           "    ndarray: A view. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If there is no axis 1.") {
    return Wrap(Fliplr(ToArray("fliplr", "m", a[0])));
}
CX_ROUTINE(flipud, "m: ndarray) -> ndarray",
           "Reverses the order of elements along axis 0.\n\n"
           "Args:\n"
           "    m (ndarray): 1 dimension or more, any dtype.\n"
           "Returns:\n"
           "    ndarray: A view. Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If there are no dimensions.") {
    return Wrap(Flipud(ToArray("flipud", "m", a[0])));
}

// Returns one array for one argument, a tuple for several.
PyObject* CallAtLeast(const char* op, Array (*at_least)(const Array&), PyObject* arys) {
    std::vector<Array> arrays = ToArrays(op, "arys", arys);
    for (Array& x : arrays) x = at_least(x);
    return arrays.size() == 1 ? Wrap(arrays[0]) : WrapTuple(arrays);
}

#define CX_AT_LEAST(py, Name, count, returns)                                                      \
    CX_ROUTINE(py, "*arys: ndarray) -> Any",                                                       \
               "Arrays with at least " count                                                       \
               ".\n\n"                                                                             \
               "Args:\n"                                                                           \
               "    *arys (ndarray): Any shape and dtype.\n"                                       \
               "Returns:\n"                                                                        \
               "    ndarray or tuple of ndarray: " returns " Views. Differentiable, any order.") { \
        return CallAtLeast(#py, &Name, a[0]);                                                      \
    }
CX_AT_LEAST(atleast_1d, AtLeast1D, "1 dimension",
            "0-d arrays get shape (1,), others stay as they are.")
CX_AT_LEAST(atleast_2d, AtLeast2D, "2 dimensions", "Missing axes are prepended with length 1.")
CX_AT_LEAST(atleast_3d, AtLeast3D, "3 dimensions",
            "Shape (N,) becomes (1, N, 1), and (M, N) becomes (M, N, 1).")
#undef CX_AT_LEAST

}  // namespace
}  // namespace chainerx::python
