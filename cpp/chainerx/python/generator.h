// The type chainerx.random.Generator, and what its methods and the functions of chainerx.random
// share: both are of the same bindings, of which functions have no `self`.
#pragma once

#include <functional>
#include <optional>

#include "chainerx/ops/random/random_distributions.h"
#include "chainerx/python/bind.h"

namespace chainerx::python {

// The generator of a method, the default one of a function.
const random::Generator& GeneratorOf(PyObject* self);

// A number, or an array; `fallback` for what was not given.
random::Parameter ToParameter(const char* op, const char* name, PyObject* o, double fallback = 0);
// size, dtype and device, in this order.
random::Options ToDrawOptions(const char* op, PyObject* self, PyObject* const* a);
// draw(options) of size, dtype, device and out.
PyObject* DrawInto(const char* op, PyObject* self, PyObject* const* a,
                   const std::function<Array(const random::Options&)>& draw);
// None gives none.
std::optional<Shape> ToSize(const char* op, PyObject* o);

void InitGenerator(PyObject* module);

// The end of most signatures, and what is said of it.
#define CX_DRAW_SIGNATURE                                             \
    "size: ShapeLike | None = None, dtype: DtypeLike | None = None, " \
    "device: DeviceLike | None = None) -> ndarray"
#define CX_DRAW_ARGS                                                                             \
    "    size: Shape; None is that of the parameters, broadcast.\n"                              \
    "    dtype: A real float dtype; None is that of parameters that are arrays of floats, else " \
    "float64.\n"                                                                                 \
    "    device: Default: that of the parameters, else the default device.\n"
// Of the distributions that draw into an array that is there, as NumPy's.
#define CX_DRAW_OUT_SIGNATURE                                         \
    "size: ShapeLike | None = None, dtype: DtypeLike | None = None, " \
    "device: DeviceLike | None = None, out: ndarray | None = None) -> ndarray"
#define CX_DRAW_OUT_ARGS                                                                    \
    CX_DRAW_ARGS                                                                            \
    "    out (ndarray): Written to and returned; what is given of ``size``, ``dtype`` and " \
    "``device``\n        must be its own. It may not be part of a graph.\n"
#define CX_COUNT_ARGS                                               \
    "    size: Shape; None is that of the parameters, broadcast.\n" \
    "    dtype: An integer or real float dtype; None is int64.\n"   \
    "    device: Default: that of the parameters, else the default device.\n"
#define CX_PARAMETER "float or ndarray"

}  // namespace chainerx::python
