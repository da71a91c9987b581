// Products of matrices.
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/shape/creation.h"

#include "chainerx/python/convert.h"
#include "chainerx/python/errors.h"
#include "chainerx/python/ndarray/ndarray_slots.h"
#include "chainerx/python/product_call.h"

namespace chainerx::python {
namespace {

CX_ROUTINE(dot, "a: ndarray, b: ndarray, out: ndarray | None = None) -> ndarray",
           "Dot product, like ``numpy.dot``.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "    b (ndarray): Axis -2 (the only one of a vector) has the length of the last axis of "
           "``a``.\n" CX_PRODUCT_OUT_ARG
           "Returns:\n"
           "    ndarray: The remaining axes of ``a``, then those of ``b``. Differentiable, any "
           "order.\n"
           "Raises:\n    DimensionError: If the lengths differ.") {
    return Finish("dot", Dot(ToArray("dot", "a", a[0]), ToArray("dot", "b", a[1])), a[2]);
}

CX_ROUTINE(
    matmul,
    "x1: ndarray, x2: ndarray, out: ndarray | None = None, *, dtype: DtypeLike | None = None) "
    "-> ndarray",
    "Matrix product over the last two axes, like ``numpy.matmul``; also the operator ``@``.\n\n"
    "Args:\n"
    "    x1 (ndarray): (..., m, k) or (k,), any dtype.\n"
    "    x2 (ndarray): (..., k, n) or (k,). The axes before the matrix broadcast.\n" CX_PRODUCT_ARGS
    "Returns:\n"
    "    ndarray: (..., m, n), without the axis that a vector operand lacks. Differentiable, any "
    "order.\n"
    "Raises:\n"
    "    DimensionError: If the lengths differ, or an operand is 0-dimensional.\n"
    "Note:\n"
    "    float16 and bfloat16 are accumulated in float32. The result doesn't depend on the number "
    "of threads.") {
    return CallProduct("matmul", a[0], a[1], a[2], a[3],
                       [](const Array& x1, const Array& x2) { return Matmul(x1, x2); });
}

CX_ROUTINE(
    linear, "x: ndarray, w: ndarray, b: ndarray | None = None, n_batch_axes: int = 1) -> ndarray",
    "A fully connected layer, ``x @ w.T + b``.\n\n"
    "Args:\n"
    "    x (ndarray): The axes after the first ``n_batch_axes`` are flattened to ``in_size``.\n"
    "    w (ndarray): (out_size, in_size).\n"
    "    b (ndarray): (out_size,), or None.\n"
    "    n_batch_axes (int): Number of batch axes.\n"
    "Returns:\n"
    "    ndarray: The batch axes of ``x``, then ``out_size``. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If shapes don't fit.") {
    std::optional<Array> b;
    if (Given(a[2])) b = ToArray("linear", "b", a[2]);
    const int64_t n_batch_axes = a[3] == nullptr ? 1 : ToInt("linear", "n_batch_axes", a[3]);
    return Wrap(
        Linear(ToArray("linear", "x", a[0]), ToArray("linear", "w", a[1]), b, n_batch_axes));
}

PyObject* SlotMatmul(PyObject* l, PyObject* r) try {
    if (IsNdArray(l) && IsNdArray(r)) return Wrap(Matmul(Self(l), Self(r)));
    CheckNotNumpy("matmul", IsNdArray(l) ? r : l);
    Py_RETURN_NOTIMPLEMENTED;
} catch (...) {
    return Failed();
}

}  // namespace

void AddMatmulSlot(std::vector<PyType_Slot>& slots) {
    slots.push_back({Py_nb_matrix_multiply, reinterpret_cast<void*>(&SlotMatmul)});
}

CX_METHOD(dot, "b: ndarray, out: ndarray | None = None) -> ndarray",
          "Same as :func:`chainerx.dot`.") {
    return Finish("dot", Dot(Self(self), ToArray("dot", "b", a[0])), a[1]);
}

}  // namespace chainerx::python
