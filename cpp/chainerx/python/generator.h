// The type chainerx.random.Generator, and helpers of its methods and of the functions of
// chainerx.random. Both have the same bindings; functions have no `self`.
#pragma once

#include <functional>
#include <optional>

#include "chainerx/ops/random/random_distributions.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// The generator of a method; the default one for a function.
const random::Generator& GeneratorOf(PyObject* self);

// A number or an array; `fallback` if omitted.
random::Parameter ToParameter(const char* op, const char* name, PyObject* o, double fallback = 0);
// Parses size, dtype and device, in this order.
random::Options ToDrawOptions(const char* op, PyObject* self, PyObject* const* a);
// Parses size, dtype, device and out, and returns draw(options).
PyObject* DrawInto(const char* op, PyObject* self, PyObject* const* a,
                   const std::function<Array(const random::Options&)>& draw);
// Nullopt for None.
std::optional<Shape> ToSize(const char* op, PyObject* o);

void InitGenerator(PyObject* module);

// The end of most signatures, and its docstring.
#define CX_DRAW_SIGNATURE                                             \
    "size: ShapeLike | None = None, dtype: DtypeLike | None = None, " \
    "device: DeviceLike | None = None) -> ndarray"
#define CX_DRAW_ARGS                                                                            \
    "    size: Shape; None means that of the parameters, broadcast.\n"                          \
    "    dtype: A real float dtype; None means that of float array parameters, else float64.\n" \
    "    device: Default: that of the parameters, else the default device.\n"
// The same for distributions that can draw into a given array, as NumPy's.
#define CX_DRAW_OUT_SIGNATURE                                         \
    "size: ShapeLike | None = None, dtype: DtypeLike | None = None, " \
    "device: DeviceLike | None = None, out: ndarray | None = None) -> ndarray"
#define CX_DRAW_OUT_ARGS                                                                     \
    CX_DRAW_ARGS                                                                             \
    "    out (ndarray): Written to and returned; it must not be part of a graph. ``size``, " \
    "``dtype`` and\n"                                                                        \
    "        ``device``, if given, must be its own.\n"
#define CX_COUNT_ARGS                                                  \
    "    size: Shape; None means that of the parameters, broadcast.\n" \
    "    dtype: An integer or real float dtype; None is int64.\n"      \
    "    device: Default: that of the parameters, else the default device.\n"
#define CX_PARAMETER "float or ndarray"

}  // namespace chainerx::python
