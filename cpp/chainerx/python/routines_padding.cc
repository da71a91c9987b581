// Padding, tiling and rolling.
#include "chainerx/core/error.h"
#include "chainerx/ops/padding.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray.h"
#include "chainerx/python/ref.h"

namespace chainerx::python {
namespace {

PadMode ToPadMode(PyObject* o) {
    if (o == nullptr) return PadMode::kConstant;
    const std::string_view mode = ToString("pad", "mode", o);
    if (mode == "constant") return PadMode::kConstant;
    if (mode == "edge") return PadMode::kEdge;
    if (mode == "reflect") return PadMode::kReflect;
    if (mode == "symmetric") return PadMode::kSymmetric;
    if (mode == "wrap") return PadMode::kWrap;
    throw ValueError{
        "pad: mode must be 'constant', 'edge', 'reflect', 'symmetric' or 'wrap', got '", mode, "'"};
}

// 3, (1, 2), ((1, 2),) or ((1, 2), (3, 4)) as NumPy reads them.
std::vector<std::pair<int64_t, int64_t>> ToWidths(PyObject* o, int8_t ndim) {
    std::vector<std::pair<int64_t, int64_t>> widths;
    const auto pair = [&](PyObject* item) {
        const Shape w = ToShape("pad", "pad_width", item);
        if (w.ndim() != 1 && w.ndim() != 2) {
            throw DimensionError{"pad: pad_width has ", w.size(), " numbers for one axis"};
        }
        widths.emplace_back(w[0], w[w.ndim() - 1]);
    };
    if (const Ref sequence = TrySequence(o)) {
        const Items items{sequence.get()};
        if (items.size() == 0 && ndim == 0) return widths;
        const bool nested = items.size() > 0 && TrySequence(items[0]);
        for (Py_ssize_t i = 0; nested && i < items.size(); ++i) pair(items[i]);
        if (!nested) pair(o);
    } else {
        pair(o);
    }
    if (widths.size() == 1) widths.resize(static_cast<size_t>(ndim), widths[0]);
    return widths;
}

CX_ROUTINE(pad,
           "array: ndarray, pad_width: int | Sequence[int] | Sequence[Sequence[int]], "
           "mode: str = 'constant', constant_values: Scalar = 0) -> ndarray",
           "The array with elements added before and after each axis.\n\n"
           "Args:\n"
           "    array (ndarray): Any shape and dtype.\n"
           "    pad_width: Pairs of widths, one per axis or one for all; a number means both.\n"
           "    mode (str): 'constant', 'edge', 'reflect', 'symmetric' or 'wrap'.\n"
           "    constant_values: The value for mode 'constant'.\n"
           "Returns:\n"
           "    ndarray: Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If widths are negative or too many.\n"
           "    ValueError: If there is no such mode.") {
    const Array& x = ToArray("pad", "array", a[0]);
    const Scalar value = a[3] != nullptr ? ToScalar("pad", "constant_values", a[3]) : Scalar{0};
    return Wrap(Pad(x, ToWidths(a[1], x.ndim()), ToPadMode(a[2]), value));
}

CX_ROUTINE(tile, "A: ndarray, reps: int | Sequence[int]) -> ndarray",
           "The array beside itself, so many times along each axis.\n\n"
           "Args:\n"
           "    A (ndarray): Any shape and dtype.\n"
           "    reps (int or tuple of int): How often; the last one stands for the last axis.\n"
           "Returns:\n"
           "    ndarray: Differentiable, any order.\n"
           "Raises:\n"
           "    DimensionError: If one is negative.") {
    return Wrap(Tile(ToArray("tile", "A", a[0]), ToShape("tile", "reps", a[1])));
}

CX_ROUTINE(
    roll, "a: ndarray, shift: int | Sequence[int], axis: Axis = None) -> ndarray",
    "The elements moved along axes; those that fall off come back at the other end.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape and dtype.\n"
    "    shift (int or tuple of int): How far.\n"
    "    axis (int or tuple of int): Where; None moves them in the flattened array.\n"
    "Returns:\n"
    "    ndarray: The shape of ``a``. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there is no such axis, or the numbers of shifts and axes differ.") {
    const Shape shifts = ToShape("roll", "shift", a[1]);
    return Wrap(Roll(ToArray("roll", "a", a[0]), std::vector<int64_t>(shifts.begin(), shifts.end()),
                     ToAxes("roll", "axis", a[2])));
}

}  // namespace
}  // namespace chainerx::python
