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
    if (PyTuple_Check(o) || PyList_Check(o)) {
        const Items items{o};
        if (items.size() == 0 && ndim == 0) return widths;
        const bool nested = items.size() > 0 && !PyIndex_Check(items[0]);
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
           "    pad_width: Pairs of widths, one per axis or one for all; a number means both.\n"
           "    mode (str): 'constant', 'edge', 'reflect', 'symmetric' or 'wrap'.\n"
           "    constant_values: The value for mode 'constant'.\n"
           "Returns:\n    ndarray: Differentiable, any order.\n"
           "Raises:\n    DimensionError: If widths are negative or too many.") {
    const Array& x = ToArray("pad", "array", a[0]);
    const Scalar value = a[3] != nullptr ? ToScalar("pad", "constant_values", a[3]) : Scalar{0};
    return Wrap(Pad(x, ToWidths(a[1], x.ndim()), ToPadMode(a[2]), value));
}

CX_ROUTINE(tile, "A: ndarray, reps: int | Sequence[int]) -> ndarray",
           "The array beside itself, so many times along each axis. Differentiable.") {
    return Wrap(Tile(ToArray("tile", "A", a[0]), ToShape("tile", "reps", a[1])));
}

CX_ROUTINE(roll, "a: ndarray, shift: int | Sequence[int], axis: Axis = None) -> ndarray",
           "Elements moved along axes; those that fall off come back at the other end. Without "
           "``axis``, in the flattened array. Differentiable.") {
    const Shape shifts = ToShape("roll", "shift", a[1]);
    return Wrap(Roll(ToArray("roll", "a", a[0]), std::vector<int64_t>(shifts.begin(), shifts.end()),
                     ToAxes("roll", "axis", a[2])));
}

}  // namespace
}  // namespace chainerx::python
