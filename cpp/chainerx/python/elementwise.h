// Binds an elementwise function as a routine (python/bind.h) with NumPy's options of ufuncs, `out`,
// `where` and `dtype`.
//
//     CX_ELEMENTWISE(kRoutine, add, 2, "x1: ndarray | Scalar, x2: ndarray | Scalar",
//                    CX_OPTIONS, &internal::OpAdd, R"(...)") {
//         return CallBinary("add", a, [](const auto& x1, const auto& x2) { return Add(x1, x2); });
//     }
//
// The body gets the operands. A call without options goes straight to it; calls with options share
// one code: an operation with a kernel writes to `out` directly, the result of any other one is
// copied to it.
#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/ops/elementwise/elementwise.h"
#include "chainerx/python/bind.h"

#define CX_OUT_OPTION ", out: ndarray | None = None, *, where: ArrayLike = True"
#define CX_OPTIONS CX_OUT_OPTION ", dtype: DtypeLike | None = None"

#define CX_OUT_ARG                                                                              \
    "    out (ndarray): Written to and returned. It has the broadcast shape and a dtype of no " \
    "lower kind;\n"                                                                             \
    "        neither it nor an operand may be part of a graph.\n"
#define CX_WHERE_ARG                                                                               \
    "    where (ndarray or list): A mask of bool; where it is False, ``out`` keeps its elements, " \
    "and is 0 if\n"                                                                                \
    "        not given.\n"
#define CX_DTYPE_ARG "    dtype: To compute in; by default the promoted dtype.\n"
// Appended to the docstrings of the operands.
#define CX_OUT_ARGS CX_OUT_ARG CX_WHERE_ARG
#define CX_OPTION_ARGS CX_OUT_ARGS CX_DTYPE_ARG

// For routines whose result has its own shape.
#define CX_RESULT_OUT "out: ndarray | None = None"
#define CX_RESULT_OUT_ARG                                                                        \
    "    out (ndarray): Written to and returned. It has the shape of the result and a dtype of " \
    "no lower\n"                                                                                 \
    "        kind; neither it nor ``a`` may be part of a graph.\n"

namespace chainerx::python {

// Computes a new array from all operands of the function.
using ComputeElementwise = PyObject*(PyObject* const* operands);

struct ElementwiseFn {
    const ArgSpec& spec;  // the operands, `out`, `where`, and perhaps `dtype`
    int n_operands;
    ComputeElementwise* compute;
    const internal::ElementwiseOp& (*op)();  // null for compositions
};

// Calls with options, or with keywords.
PyObject* CallWithOptions(const ElementwiseFn& f, PyObject* const* args, Py_ssize_t n,
                          PyObject* keywords);

// The same; sets a Python exception if it fails.
CX_COLD PyObject* TryWithOptions(const ElementwiseFn& f, PyObject* const* args, Py_ssize_t n,
                                 PyObject* keywords) noexcept;

template <int kOperands, ComputeElementwise* kCompute>
PyObject* CallElementwise(const ElementwiseFn& f, PyObject* const* args, Py_ssize_t n,
                          PyObject* keywords) {
    if (keywords != nullptr || n != kOperands) return TryWithOptions(f, args, n, keywords);
    try {
        return kCompute(args);
    } catch (...) {
        return FailOrConvert(f.spec, nullptr, args, kOperands, nullptr);
    }
}

#define CX_ELEMENTWISE(kind, Name, n, operands, options, op, doc)                                  \
    static PyObject* Compute_##kind##Name(PyObject* const* a);                                     \
    static ArgSpec Spec_##kind##Name{#Name, operands options ") -> ndarray"};                      \
    static const ElementwiseFn Fn_##kind##Name{Spec_##kind##Name, n, &Compute_##kind##Name, op};   \
    static PyObject* Entry_##kind##Name(PyObject*, PyObject* const* args, Py_ssize_t n_args,       \
                                        PyObject* keywords) {                                      \
        return CallElementwise<n, &Compute_##kind##Name>(Fn_##kind##Name, args, n_args, keywords); \
    }                                                                                              \
    static const Binding Binding_##kind##Name{Binding::kind, Spec_##kind##Name, doc,               \
                                              &Entry_##kind##Name, true};                          \
    static PyObject* Compute_##kind##Name(PyObject* const* a)

// The result of any other routine: `y` itself, or `out`, to which it is copied, with the same
// shape.
PyObject* Finish(const char* op, Array y, PyObject* out);
// The same for an elementwise routine of two results: `out` is a tuple of arrays or None, to which
// they are broadcast.
PyObject* FinishPair(const char* op, const Array& y1, const Array& y2, PyObject* out,
                     PyObject* where);

// Parses the parameter `keepdims`, null if omitted. TypeError if it is neither a bool nor an
// integer, for example an array passed positionally, as NumPy has `out` in that position.
CX_COLD bool ToKeepdims(const char* op, PyObject* o);

// The array of the parameter `out`, or null.
const Array* ToOut(const char* op, PyObject* o);
// The mask of the parameter `where`; nullopt for True.
std::optional<Array> ToMask(const char* op, PyObject* o, Device& device);

}  // namespace chainerx::python
