// Binds reductions by one row each, in routines_reduction.cc and routines_extreme.cc, which makes
// the routine and, if ndarray has it, the method.
//
// Rarely used options of NumPy, such as `dtype`, are keyword-only, since `keepdims` is the third
// parameter of the original. Without them, the plain routine is called.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "chainerx/core/macro.h"
#include "chainerx/ops/reduce/reduction.h"
#include "chainerx/ops/reduce/reduction_options.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/elementwise.h"
#include "chainerx/python/ndarray/ndarray.h"

#define CX_ANY_DTYPE "Any shape and dtype."
#define CX_NO_COMPLEX "Any shape, any dtype but complex ones."
#define CX_TOTAL                                                                 \
    "int64 for bool and integers (uint64 for uint64), else the dtype of ``a``. " \
    "Differentiable, any order."
#define CX_MEAN "In the dtype of ``a``, float32 for bool and integers. Differentiable, any order."
#define CX_SPREAD                                                                      \
    "In the dtype of ``a``, float32 for bool and integers; real for complex numbers, " \
    "and then without a gradient. Differentiable, any order."
#define CX_BAD_AXES "DimensionError: If an axis is out of range or repeated."

// ---- parameters, and their docstrings

#define CX_AXES "axis: Axis = None, keepdims: bool = False"
#define CX_MASK "where: ArrayLike = True"
#define CX_REDUCTION_DTYPE "dtype: DtypeLike | None = None"
#define CX_TOTAL_PARAMETERS                               \
    CX_AXES ", *, " CX_REDUCTION_DTYPE ", " CX_RESULT_OUT \
            ", initial: Scalar | None = None, " CX_MASK
#define CX_EXTREME_PARAMETERS \
    CX_AXES ", *, " CX_RESULT_OUT ", initial: Scalar | None = None, " CX_MASK
#define CX_MEAN_PARAMETERS CX_AXES ", *, " CX_REDUCTION_DTYPE ", " CX_RESULT_OUT ", " CX_MASK
#define CX_SPREAD_PARAMETERS \
    CX_MEAN_PARAMETERS ", ddof: float = 0, correction: float = 0, mean: ndarray | None = None"
#define CX_TRUTH_PARAMETERS CX_AXES ", *, " CX_RESULT_OUT ", " CX_MASK

#define CX_AXES_ARGS                                  \
    "\n"                                              \
    "    axis: One axis, several, or None for all.\n" \
    "    keepdims (bool): Keep reduced axes with length 1.\n"
#define CX_REDUCTION_DTYPE_ARG \
    "    dtype: To compute in, and of the result; that of ``out`` if there is one.\n"
#define CX_MEAN_DTYPE_ARG "    dtype: To compute in, and of the result; float or complex.\n"
#define CX_MASK_ARG                                                                                \
    "    where (ndarray or list): A mask of bool, broadcast to ``a``: elements where it is False " \
    "do not count.\n"
#define CX_TOTAL_ARGS                                                                             \
    CX_AXES_ARGS CX_REDUCTION_DTYPE_ARG CX_RESULT_OUT_ARG                                         \
        "    initial (scalar): Initial value, of no higher kind than the result, whose dtype it " \
        "does not change.\n" CX_MASK_ARG
#define CX_EXTREME_ARGS                                                               \
    CX_AXES_ARGS CX_RESULT_OUT_ARG                                                    \
        "    initial (scalar): One more candidate, of no higher kind; required with " \
        "``where``.\n" CX_MASK_ARG
#define CX_MEAN_ARGS CX_AXES_ARGS CX_MEAN_DTYPE_ARG CX_RESULT_OUT_ARG CX_MASK_ARG
#define CX_SPREAD_ARGS                                                                           \
    CX_MEAN_ARGS                                                                                 \
    "    ddof (float): Delta degrees of freedom: subtracted from the number of elements in the " \
    "divisor.\n"                                                                                 \
    "    correction (float): Alias of ``ddof``, from the array API standard.\n"                  \
    "    mean (ndarray): The mean, if it is known, with the reduced axes kept.\n"
#define CX_TRUTH_ARGS CX_AXES_ARGS CX_RESULT_OUT_ARG CX_MASK_ARG

namespace chainerx::python {

// The common parameters. `a` are the arguments after the array.
struct ReduceCall {
    const char* op;
    const Array& x;
    PyObject* const* a;

    OptionalAxes axes() const { return ToAxes(op, "axis", a[0]); }
    // NumPy has other parameters in this position, whose arguments are not bools.
    bool keepdims() const {
        if (a[1] == nullptr || a[1] == Py_False) return false;
        return a[1] == Py_True || ToKeepdims(op, a[1]);
    }
    // Whether no other of the `kCount` arguments is given.
    template <int kCount>
    bool IsPlain() const {
        uintptr_t any = 0;
        for (int i = 2; i < kCount; ++i) any |= reinterpret_cast<uintptr_t>(a[i]);
        return any == 0;
    }
    std::optional<Dtype> ToGivenDtype(int i) const {
        return Given(a[i]) ? std::optional<Dtype>{ToDtype(a[i])} : std::nullopt;
    }
    std::optional<Scalar> ToInitial(int i) const {
        return Given(a[i]) ? std::optional<Scalar>{ToScalar(op, "initial", a[i])} : std::nullopt;
    }
    std::optional<Array> ToWhere(int i) const { return ToMask(op, a[i], x.device()); }
};

// The dtype of the accumulation if only `out` is given: that of `out`, unless its kind is lower
// than that of x, since such casts must be explicit.
inline std::optional<Dtype> DtypeForOut(const Array& x, const Array* out) {
    if (out == nullptr || GetCategory(out->dtype()) < GetCategory(x.dtype())) return std::nullopt;
    return out->dtype();
}

inline const Array* Pointer(const std::optional<Array>& x) { return x ? &*x : nullptr; }

// Calls f(x, axes, keepdims). Calls of f(x, axes, options) are in another function, since few need
// it.
PyObject* ReducePlain(const ReduceCall& c, const auto& f) {
    return Wrap(f(c.x, c.axes(), c.keepdims()));
}

CX_COLD PyObject* ReduceTotalWithOptions(const ReduceCall& c, const auto& f) {
    std::optional<Dtype> dtype = c.ToGivenDtype(2);
    if (!dtype) dtype = DtypeForOut(c.x, ToOut(c.op, c.a[3]));
    const std::optional<Array> where = c.ToWhere(5);
    const TotalOptions options{c.keepdims(), dtype, c.ToInitial(4), Pointer(where)};
    return Finish(c.op, f(c.x, c.axes(), options), c.a[3]);
}
PyObject* ReduceTotal(const ReduceCall& c, const auto& f) {
    return c.IsPlain<6>() ? ReducePlain(c, f) : ReduceTotalWithOptions(c, f);
}

CX_COLD PyObject* ReduceExtremeWithOptions(const ReduceCall& c, const auto& f) {
    const std::optional<Array> where = c.ToWhere(4);
    const ExtremeOptions options{c.keepdims(), c.ToInitial(3), Pointer(where)};
    return Finish(c.op, f(c.x, c.axes(), options), c.a[2]);
}
PyObject* ReduceExtreme(const ReduceCall& c, const auto& f) {
    return c.IsPlain<5>() ? ReducePlain(c, f) : ReduceExtremeWithOptions(c, f);
}

CX_COLD PyObject* ReduceMeanWithOptions(const ReduceCall& c, const auto& f) {
    const std::optional<Array> where = c.ToWhere(4);
    const MeanOptions options{c.keepdims(), c.ToGivenDtype(2), Pointer(where)};
    return Finish(c.op, f(c.x, c.axes(), options), c.a[3]);
}
PyObject* ReduceMean(const ReduceCall& c, const auto& f) {
    return c.IsPlain<5>() ? ReducePlain(c, f) : ReduceMeanWithOptions(c, f);
}

CX_COLD PyObject* ReduceSpreadWithOptions(const ReduceCall& c, const auto& f) {
    const std::optional<Array> where = c.ToWhere(4);
    if (c.a[5] != nullptr && c.a[6] != nullptr) {
        throw TypeError{c.op, ": ddof and correction are the same, expected one of them"};
    }
    PyObject* ddof = c.a[5] != nullptr ? c.a[5] : c.a[6];
    SpreadOptions options{c.keepdims(), c.ToGivenDtype(2), Pointer(where)};
    if (ddof != nullptr) options.correction = ToDouble(c.op, "ddof", ddof);
    if (Given(c.a[7])) options.mean = &ToArray(c.op, "mean", c.a[7]);
    return Finish(c.op, f(c.x, c.axes(), options), c.a[3]);
}
PyObject* ReduceSpread(const ReduceCall& c, const auto& f) {
    return c.IsPlain<8>() ? ReducePlain(c, f) : ReduceSpreadWithOptions(c, f);
}

CX_COLD PyObject* ReduceTruthWithOptions(const ReduceCall& c, const auto& f) {
    const std::optional<Array> where = c.ToWhere(3);
    const TruthOptions options{c.keepdims(), Pointer(where)};
    return Finish(c.op, f(c.x, c.axes(), options), c.a[2]);
}
PyObject* ReduceTruth(const ReduceCall& c, const auto& f) {
    return c.IsPlain<4>() ? ReducePlain(c, f) : ReduceTruthWithOptions(c, f);
}

}  // namespace chainerx::python

// Binds a routine, and a method of the same name. `kind`: TOTAL, EXTREME, MEAN, SPREAD or TRUTH;
// `Reduce` is the function above.
#define CX_REDUCTION_ROUTINE(py, Name, kind, Reduce, says, dtypes, result, more)          \
    CX_ROUTINE(py, "a: ndarray, " CX_##kind##_PARAMETERS ") -> ndarray",                  \
               says "\n\nArgs:\n    a (ndarray): " dtypes CX_##kind##_ARGS                \
               "Returns:\n    ndarray: " result "\nRaises:\n    " CX_BAD_AXES more) {     \
        return Reduce({#py, ToArray(#py, "a", a[0]), a + 1},                              \
                      [](const Array& x, const OptionalAxes& axes, const auto& options) { \
                          return Name(x, axes, options);                                  \
                      });                                                                 \
    }
#define CX_REDUCTION_METHOD(py, Name, kind, Reduce)                                       \
    CX_METHOD(py, CX_##kind##_PARAMETERS ") -> ndarray", "See chainerx." #py "().") {     \
        return Reduce({#py, Self(self), a},                                               \
                      [](const Array& x, const OptionalAxes& axes, const auto& options) { \
                          return Name(x, axes, options);                                  \
                      });                                                                 \
    }

// Reductions along one axis: cumulative ones, and indices.
#define CX_ALONG_AXIS_ARGS "\n    axis (int): The axis, or None for the flattened array.\n"
#define CX_SCAN_PARAMETERS "axis: int | None = None, dtype: DtypeLike | None = None, " CX_RESULT_OUT
#define CX_POSITION_PARAMETERS \
    "axis: int | None = None, " CX_RESULT_OUT ", *, keepdims: bool = False"
