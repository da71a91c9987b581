// Padding, tiling and rolling.
#include <algorithm>

#include "chainerx/autograd/record.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/padding.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

struct NamedMode {
    std::string_view name;
    PadMode mode;
};
constexpr NamedMode kModes[] = {{"constant", PadMode::kConstant},
                                {"edge", PadMode::kEdge},
                                {"linear_ramp", PadMode::kLinearRamp},
                                {"maximum", PadMode::kMaximum},
                                {"mean", PadMode::kMean},
                                {"median", PadMode::kMedian},
                                {"minimum", PadMode::kMinimum},
                                {"reflect", PadMode::kReflect},
                                {"symmetric", PadMode::kSymmetric},
                                {"wrap", PadMode::kWrap},
                                {"empty", PadMode::kEmpty}};

PadMode ToPadMode(PyObject* o) {
    if (o == nullptr) return PadMode::kConstant;
    const std::string_view mode = ToString("pad", "mode", o);
    for (const NamedMode& m : kModes) {
        if (m.name == mode) return m.mode;
    }
    throw ValueError{
        "pad: mode must be 'constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median', "
        "'minimum', 'reflect', 'symmetric', 'wrap', 'empty' or a function, got '",
        mode, "'"};
}

// Parses 3, (1, 2), ((1, 2),) or ((1, 2), (3, 4)) like NumPy.
std::vector<std::pair<int64_t, int64_t>> ToWidths(PyObject* o, int8_t ndim) {
    std::vector<std::pair<int64_t, int64_t>> widths;
    const auto pair = [&](PyObject* item) {
        const Shape w = ToShape("pad", "pad_width", item);
        if (w.ndim() != 1 && w.ndim() != 2) {
            throw DimensionError{"pad: pad_width has ", w.size(), " numbers for one axis"};
        }
        widths.emplace_back(w[0], w[w.ndim() - 1]);
    };
    if (PyDict_Check(o)) {
        widths.resize(static_cast<size_t>(ndim));
        // Iterates over a copy, since the conversion of an object to a number may change the dict.
        const Ref dict = Check(PyDict_Copy(o));
        PyObject* key;
        PyObject* value;
        for (Py_ssize_t at = 0; PyDict_Next(dict.get(), &at, &key, &value) != 0;) {
            const int8_t axis = NormalizeAxis("pad", ToAxis("pad", "pad_width", key), ndim);
            const std::vector<std::pair<int64_t, int64_t>> one = ToWidths(value, 1);
            if (one.size() != 1) throw DimensionError{"pad: pad_width has several for one axis"};
            widths[static_cast<size_t>(axis)] = one[0];
        }
        return widths;
    }
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

// Parses v, (v, w), ((v, w),) or ((v, w), (v, w), ...).
template <typename T, typename F>
PadPairs<T> ToPairs(const char* name, PyObject* o, const F& convert) {
    const auto pair = [&](PyObject* item) -> std::pair<T, T> {
        const Ref sequence = TrySequence(item);
        if (!sequence) return {convert(item), convert(item)};
        const Items items{sequence.get()};
        if (items.size() != 1 && items.size() != 2) {
            throw DimensionError{"pad: ", name, " has ", items.size(), " values for one axis"};
        }
        return {convert(items[0]), convert(items[items.size() - 1])};
    };
    PadPairs<T> result;
    result.pairs.clear();
    const Ref sequence = TrySequence(o);
    if (sequence) {
        const Items items{sequence.get()};
        const bool nested = items.size() > 0 && TrySequence(items[0]);
        for (Py_ssize_t i = 0; nested && i < items.size(); ++i) {
            result.pairs.push_back(pair(items[i]));
        }
        if (nested) return result;
    }
    result.pairs.push_back(pair(o));
    return result;
}

PadOptions ToPadOptions(PadMode mode, PyObject* const* a) {
    const auto given = [&](int i, const char* name, bool fits) {
        if (a[i] == nullptr) return false;
        if (!fits)
            throw ValueError{"pad: ", name, " is for another mode than '",
                             kModes[static_cast<size_t>(
                                        std::ranges::find(kModes, mode, &NamedMode::mode) - kModes)]
                                 .name,
                             "'"};
        return true;
    };
    const bool is_statistic = mode == PadMode::kMaximum || mode == PadMode::kMean ||
                              mode == PadMode::kMedian || mode == PadMode::kMinimum;
    PadOptions options;
    if (given(3, "constant_values", mode == PadMode::kConstant)) {
        options.values = ToPairs<Scalar>("constant_values", a[3], [](PyObject* o) {
            return ToScalar("pad", "constant_values", o);
        });
    }
    if (given(4, "stat_length", is_statistic)) {
        options.stat_length = ToPairs<int64_t>("stat_length", a[4], [](PyObject* o) {
            return o == Py_None ? INT64_MAX : ToInt("pad", "stat_length", o);
        });
    }
    if (given(5, "end_values", mode == PadMode::kLinearRamp)) {
        options.end_values = ToPairs<Scalar>(
            "end_values", a[5], [](PyObject* o) { return ToScalar("pad", "end_values", o); });
    }
    if (given(6, "reflect_type", mode == PadMode::kReflect || mode == PadMode::kSymmetric)) {
        const std::string_view type = ToString("pad", "reflect_type", a[6]);
        if (type != "even" && type != "odd") {
            throw ValueError{"pad: reflect_type must be 'even' or 'odd', got '", type, "'"};
        }
        options.odd = type == "odd";
    }
    return options;
}

// Calls function(vector, (before, after), axis, {}) for each vector along each axis; the function
// fills in its padding.
Array PadByFunction(const Array& x, const PadWidths& widths, PyObject* function) {
    if (internal::IsBackpropRequiredAny(x)) {
        throw ChainerxError{
            "pad: with a function as mode there is no gradient; call "
            "as_grad_stopped() on array"};
    }
    Array y = Pad(internal::Detached(x), widths);
    for (int8_t axis = 0; axis < x.ndim(); ++axis) {
        const Array rows = Moveaxis(y, Axes{axis}, Axes{-1});
        const auto [before, after] = widths[static_cast<size_t>(axis)];
        const int64_t count = y.GetTotalSize() == 0 ? 0 : y.GetTotalSize() / y.shape()[axis];
        for (int64_t k = 0; k < count; ++k) {
            std::vector<ArrayIndex> index(static_cast<size_t>(x.ndim() - 1), int64_t{0});
            int64_t rest = k;
            for (int8_t i = x.ndim() - 2; i >= 0; --i) {
                index[static_cast<size_t>(i)] = rest % rows.shape()[i];
                rest /= rows.shape()[i];
            }
            const Ref vector{Wrap(At(rows, index))};
            const Ref result{PyObject_CallFunction(function, "O(LL)i{}", vector.get(),
                                                   static_cast<long long>(before),
                                                   static_cast<long long>(after), int{axis})};
            if (!result) throw PythonError{};
        }
    }
    return y;
}

CX_ROUTINE(
    pad,
    "array: ndarray, pad_width: int | Sequence[int] | Sequence[Sequence[int]], "
    "mode: str | Callable[..., None] = 'constant', constant_values: Any = 0, "
    "stat_length: Any = None, end_values: Any = 0, reflect_type: str = 'even') -> ndarray",
    "Pads an array before and after each axis.\n\n"
    "Args:\n"
    "    array (ndarray): Any shape and dtype.\n"
    "    pad_width: Pairs of widths, one per axis or one for all; a number means both. Or a dict "
    "from\n"
    "        axes to these.\n"
    "    mode (str): 'constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum',\n"
    "        'reflect', 'symmetric', 'wrap' or 'empty' (zeros, here). Or a function, which is "
    "called\n"
    "        with each vector along each axis, the widths of its padding, the axis and a dict, "
    "and\n"
    "        writes to the vector.\n"
    "    constant_values: The values for mode 'constant': a number, or pairs as for "
    "``pad_width``.\n"
    "    stat_length: The number of elements at the edge that the modes 'maximum', 'mean', "
    "'median'\n"
    "        and 'minimum' use; a number, or pairs. Default: all.\n"
    "    end_values: The outermost values for mode 'linear_ramp': a number, or pairs.\n"
    "    reflect_type (str): 'even', or 'odd': twice the edge minus the reflected elements.\n"
    "Returns:\n"
    "    ndarray: Differentiable, any order, unless the mode is a function.\n"
    "Raises:\n"
    "    DimensionError: If widths are negative or too many, or the mode can't extend an\n"
    "        empty axis.\n"
    "    ValueError: If there is no such mode, or an option belongs to another one.\n"
    "    DtypeError: If the mode does not support the dtype.") {
    const Array& x = ToArray("pad", "array", a[0]);
    const PadWidths widths = ToWidths(a[1], x.ndim());
    if (a[2] != nullptr && PyCallable_Check(a[2])) return Wrap(PadByFunction(x, widths, a[2]));
    const PadMode mode = ToPadMode(a[2]);
    return Wrap(Pad(x, widths, mode, ToPadOptions(mode, a)));
}

CX_ROUTINE(
    tile, "A: ndarray, reps: int | Sequence[int]) -> ndarray",
    "Tiles an array: repeats it along each axis.\n\n"
    "Args:\n"
    "    A (ndarray): Any shape and dtype.\n"
    "    reps (int or tuple of int): Numbers of repetitions; the last one is for the last axis.\n"
    "Returns:\n"
    "    ndarray: Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If one is negative.") {
    return Wrap(Tile(ToArray("tile", "A", a[0]), ToShape("tile", "reps", a[1])));
}

std::vector<int64_t> ToShifts(PyObject* o) {
    if (!IsNdArray(o)) {
        const Shape shifts = ToShape("roll", "shift", o);
        return {shifts.begin(), shifts.end()};
    }
    const Array& shifts = Self(o);
    if (!IsInt(shifts.dtype()) || shifts.ndim() > 1) {
        throw TypeError{"roll: shift is an array of shape ", shifts.shape(), " and ",
                        shifts.dtype(), ", expected integers in at most one dimension"};
    }
    return shifts.ToHost<int64_t>();
}

CX_ROUTINE(
    roll, "a: ndarray, shift: int | Sequence[int] | ndarray, axis: Axis = None) -> ndarray",
    "Rolls elements along axes: those shifted out at one end re-enter at the other.\n\n"
    "Args:\n"
    "    a (ndarray): Any shape and dtype.\n"
    "    shift (int or tuple of int): Number of positions; an array of integers waits for its "
    "device.\n"
    "    axis (int or tuple of int): The axes; None rolls the flattened array.\n"
    "Returns:\n"
    "    ndarray: The shape of ``a``. Differentiable, any order.\n"
    "Raises:\n"
    "    DimensionError: If there is no such axis, or the numbers of shifts and axes differ.") {
    return Wrap(Roll(ToArray("roll", "a", a[0]), ToShifts(a[1]), ToAxes("roll", "axis", a[2])));
}

}  // namespace
}  // namespace chainerx::python
