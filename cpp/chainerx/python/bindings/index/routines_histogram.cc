// Counts of integers, and histograms.
#include "chainerx/ops/index/histogram.h"

#include <algorithm>
#include <vector>

#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"

namespace chainerx::python {
namespace {

std::optional<Array> ToWeights(const char* op, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    return ToArray(op, "weights", o);
}

HistogramRange ToRange(const char* op, PyObject* o) {
    if (!Given(o)) return std::nullopt;
    const Ref sequence = TrySequence(o);
    if (!sequence) throw TypeError{op, ": range must be two numbers, got ", Py_TYPE(o)->tp_name};
    const Items items{sequence.get()};
    if (items.size() != 2) {
        throw ValueError{op, ": range has ", static_cast<int64_t>(items.size()),
                         " numbers, expected 2"};
    }
    // Arrays without dimensions are numbers here, as in NumPy.
    const auto end = [op](PyObject* o) {
        const bool is_array = IsNdArray(o) || PyObject_TypeCheck(o, Numpy().ndarray);
        const Ref shape = is_array ? Check(PyObject_GetAttrString(o, "shape")) : Ref{};
        if (!is_array || PyTuple_GET_SIZE(shape.get()) != 0) return ToDouble(op, "range", o);
        return ToDouble(op, "range", Check(PyObject_CallMethod(o, "item", nullptr)).get());
    };
    return {{end(items[0]), end(items[1])}};
}

// The given edges, or those computed by a number of bins or by the name of a rule.
Array ToEdges(const char* op, const Array& x, PyObject* bins, const HistogramRange& range,
              bool is_weighted) {
    if (bins == nullptr) return HistogramBinEdges(x, int64_t{10}, range);
    if (PyUnicode_Check(bins)) {
        if (is_weighted) {
            throw TypeError{op, ": bins is '", ToString(op, "bins", bins),
                            "', but no rule knows of weights"};
        }
        return HistogramBinEdges(x, ToString(op, "bins", bins), range);
    }
    if (IsNdArray(bins)) {
        CheckSameDevice(op, x.device(), Self(bins).device());
        return Self(bins);
    }
    if (PyList_Check(bins) || PyTuple_Check(bins) || PyObject_TypeCheck(bins, Numpy().ndarray)) {
        return FromNumpy(bins, std::nullopt, Sharing::kUnlessOddBools, x.device());
    }
    return HistogramBinEdges(x, ToIntNotBool(op, "bins", bins), range);
}

// The bins, or the ranges, of each dimension: one value for all, or a sequence with one item per
// dimension.
std::vector<Ref> ToEach(const char* op, const char* name, PyObject* o, int64_t count,
                        bool may_be_shared) {
    std::vector<Ref> each;
    const Ref sequence = Given(o) ? TrySequence(o) : Ref{};
    const int64_t size = sequence ? static_cast<int64_t>(Items{sequence.get()}.size()) : 0;
    if (!Given(o) || (may_be_shared && (!sequence || size != count))) {
        for (int64_t i = 0; i < count; ++i) each.emplace_back(Py_XNewRef(Given(o) ? o : nullptr));
        return each;
    }
    if (!sequence || size != count) {
        throw ValueError{op, ": ", name, " has ", size, " entries, expected ", count};
    }
    const Items items{sequence.get()};
    for (int64_t i = 0; i < count; ++i) each.emplace_back(Py_NewRef(items[i]));
    return each;
}

struct Binned {
    Array counts;
    std::vector<Array> edges;
};

Binned CountPoints(const char* op, const std::vector<Array>& columns, PyObject* bins,
                   PyObject* range, PyObject* density, PyObject* weights, bool may_be_shared) {
    const auto count = static_cast<int64_t>(columns.size());
    const std::optional<Array> w = ToWeights(op, weights);
    const std::vector<Ref> bins_of =
        ToEach(op, "bins", bins, count, may_be_shared || (Given(bins) && PyLong_Check(bins)));
    const std::vector<Ref> range_of = ToEach(op, "range", range, count, false);
    // Fails before the edges are made if the counts would exceed any memory.
    Shape counts;
    for (const Ref& own : bins_of) {
        const bool is_number = own && PyLong_Check(own.get());
        counts.push_back(is_number ? std::max<int64_t>(0, ToIntNotBool(op, "bins", own.get())) : 1);
    }
    CheckedNBytes(op, counts, sizeof(int64_t));
    Binned y;
    std::vector<Array> parts;
    for (int64_t i = 0; i < count; ++i) {
        const Array& x = columns[i];
        if (x.ndim() != 1 || x.shape() != columns[0].shape()) {
            throw DimensionError{
                op,        ": coordinates have shapes ",      columns[0].shape(), " and ",
                x.shape(), ", expected one, of one dimension"};
        }
        PyObject* own = bins_of[i].get();
        if (own != nullptr && PyUnicode_Check(own)) {
            throw TypeError{op, ": bins must be numbers or edges, got str"};
        }
        y.edges.push_back(ToEdges(op, x, own, ToRange(op, range_of[i].get()), false));
        parts.push_back(ExpandDims(x, Axes{1}));
    }
    y.counts =
        HistogramDD(Concatenate(parts, 1), y.edges, w, Given(density) && ToBool(density, false));
    return y;
}

CX_ROUTINE(
    digitize, "x: ndarray, bins: ndarray | Sequence[float], right: bool = False) -> ndarray",
    "Indices of the bins that numbers lie in.\n\n"
    "Args:\n"
    "    x (ndarray): Any shape, any dtype but complex ones.\n"
    "    bins (ndarray): The edges, (n,), ascending or descending; equal ones are possible.\n"
    "    right (bool): Whether a number that equals an edge belongs to the bin that ends there.\n"
    "Returns:\n"
    "    ndarray: int64, the shape of ``x``: from 0, before all edges, to n, after them. No "
    "gradient.\n"
    "Raises:\n"
    "    ValueError: If ``bins`` are not monotonic.\n"
    "    DimensionError: If ``bins`` is not 1-d.\n"
    "    DtypeError: For complex numbers.") {
    const Array& x = ToArray("digitize", "x", a[0]);
    if (IsNdArray(a[1])) return Wrap(Digitize(x, Self(a[1]), ToBool(a[2], false)));
    if (!PyList_Check(a[1]) && !PyTuple_Check(a[1]) && !PyObject_TypeCheck(a[1], Numpy().ndarray)) {
        ThrowNotArray("digitize", "bins", a[1]);
    }
    const Array bins = FromNumpy(a[1], std::nullopt, Sharing::kUnlessOddBools, x.device());
    return Wrap(Digitize(x, bins, ToBool(a[2], false)));
}

CX_ROUTINE(
    bincount, "x: ndarray, weights: ndarray | None = None, minlength: int = 0) -> ndarray",
    "Counts how often each of the integers 0, 1, 2, ... occurs.\n\n"
    "Args:\n"
    "    x (ndarray): (n,), bool or integers, none negative.\n"
    "    weights (ndarray): (n,), any dtype: what each element counts, instead of 1.\n"
    "    minlength (int): The minimum length of the result.\n"
    "Returns:\n"
    "    ndarray: int64, of length ``max(x) + 1``. With weights, sums of them, in their dtype if "
    "it is float or complex, else float64; differentiable in the weights, any order.\n"
    "Raises:\n"
    "    ValueError: If an element, or ``minlength``, is negative.\n"
    "    DimensionError: If ``x`` is not 1-d, or ``weights`` has another shape.\n"
    "    DtypeError: If ``x`` is neither bool nor of an integer dtype.") {
    return Wrap(BinCount(ToArray("bincount", "x", a[0]), ToWeights("bincount", a[1]),
                         a[2] == nullptr ? 0 : ToIntNotBool("bincount", "minlength", a[2])));
}

#define CX_A "    a (ndarray): Any shape, any dtype but complex ones.\n"
#define CX_BINS                                                                                 \
    "    bins (int, ndarray or str): The number of bins; or ascending edges; or the name of a " \
    "rule for the number: 'auto', 'fd', 'doane', 'scott', 'stone', 'rice', 'sturges', 'sqrt'.\n"
#define CX_RANGE                                                                                \
    "    range (tuple of float): Lower and upper end; by default the smallest and the largest " \
    "element. Ignored if edges are given.\n"
#define CX_BAD_BINS                                                                           \
    "    ValueError: If edges descend, bins are fewer than 1 or too many for the dtype, the " \
    "range is not finite or ends before it begins, or there is no such rule.\n"               \
    "    DtypeError: If ``a`` is complex.\n"                                                  \
    "    TypeError: For a rule with weights.\n"

CX_ROUTINE(histogram_bin_edges,
           "a: ndarray, bins: int | str | ndarray | Sequence[float] = 10, range: tuple[float, "
           "float] | None = None, weights: ndarray | None = None) -> ndarray",
           "The edges of the bins of :func:`histogram`.\n\n"
           "Args:\n" CX_A CX_BINS CX_RANGE
           "    weights (ndarray): The shape of ``a``; it has no effect.\n"
           "Returns:\n"
           "    ndarray: One more than there are bins, in the dtype of ``a`` if it is float, else "
           "float64; given edges are returned as they are. No gradient.\n"
           "Raises:\n" CX_BAD_BINS
           "    DimensionError: If edges are not 1-d, or ``weights`` has another shape.") {
    const Array& x = ToArray("histogram_bin_edges", "a", a[0]);
    CheckHistogramWeights("histogram_bin_edges", x, ToWeights("histogram_bin_edges", a[3]));
    return Wrap(HistogramBinEdges(x, ToEdges("histogram_bin_edges", x, a[1],
                                             ToRange("histogram_bin_edges", a[2]), Given(a[3]))));
}

CX_ROUTINE(histogram,
           "a: ndarray, bins: int | str | ndarray | Sequence[float] = 10, range: tuple[float, "
           "float] | None = None, density: bool | None = None, weights: ndarray | None = None) -> "
           "tuple[ndarray, ndarray]",
           "Histogram: the number of elements in each bin.\n\n"
           "Args:\n" CX_A CX_BINS CX_RANGE
           "    density (bool): Whether to divide by the widths and the total, so that the "
           "integral is 1.\n"
           "    weights (ndarray): The shape of ``a``: what each element counts, instead of 1.\n"
           "Returns:\n"
           "    tuple of ndarray: Counts, int64, or sums of weights as in :func:`bincount`, "
           "differentiable in ``weights``; and the edges.\n"
           "Raises:\n" CX_BAD_BINS
           "    DimensionError: If edges are not 1-d, or ``weights`` has another shape.\n"
           "Note:\n"
           "    An element that equals an edge belongs to the bin that begins there, one that "
           "equals the last edge to the last bin.") {
    const Array& x = ToArray("histogram", "a", a[0]);
    const std::optional<Array> weights = ToWeights("histogram", a[4]);
    const Array edges =
        ToEdges("histogram", x, a[1], ToRange("histogram", a[2]), weights.has_value());
    const bool density = Given(a[3]) && ToBool(a[3], false);
    const Ref counts = Check(Wrap(Histogram(x, edges, weights, density)));
    const Ref at = Check(Wrap(edges));
    return Check(PyTuple_Pack(2, counts.get(), at.get())).Release();
}

#define CX_BINS_OF_EACH                                                                  \
    "    bins: The number of bins, or ascending edges; or one of these per dimension.\n" \
    "    range (sequence): For each dimension lower and upper end, or None.\n"           \
    "    density (bool): Whether to divide by the sizes of the bins and the total.\n"    \
    "    weights (ndarray): (n,): what each point counts, instead of 1.\n"
#define CX_BAD_POINTS                                                                          \
    "    ValueError: If edges descend, bins are fewer than 1 or too many for the dtype, or a " \
    "range is not finite or ends before it begins.\n"                                          \
    "    DimensionError: If shapes do not fit.\n"                                              \
    "    DtypeError: For complex numbers.\n"

CX_ROUTINE(histogram2d,
           "x: ndarray, y: ndarray, bins: Any = 10, range: Any = None, density: bool | None = "
           "None, weights: ndarray | None = None) -> tuple[ndarray, ndarray, ndarray]",
           "Two-dimensional histogram: the number of points in each bin.\n\n"
           "Args:\n"
           "    x (ndarray): First coordinates, (n,), any dtype but complex ones.\n"
           "    y (ndarray): Second coordinates, (n,).\n" CX_BINS_OF_EACH
           "Returns:\n"
           "    tuple of ndarray: Counts, (bins of x, bins of y), as in :func:`histogram`; and the "
           "edges of both.\n"
           "Raises:\n" CX_BAD_POINTS) {
    const std::vector<Array> columns{ToArray("histogram2d", "x", a[0]),
                                     ToArray("histogram2d", "y", a[1])};
    const Binned y = CountPoints("histogram2d", columns, a[2], a[3], a[4], a[5], true);
    const Ref counts = Check(Wrap(y.counts));
    const Ref first = Check(Wrap(y.edges[0]));
    const Ref second = Check(Wrap(y.edges[1]));
    return Check(PyTuple_Pack(3, counts.get(), first.get(), second.get())).Release();
}

void CheckDimensions(int64_t n) {
    if (n >= 1 && n <= kMaxNdim) return;
    throw DimensionError{"histogramdd: sample has ", n, " dimensions, expected 1 to ",
                         int64_t{kMaxNdim}};
}

CX_ROUTINE(histogramdd,
           "sample: ndarray | Sequence[ndarray], bins: Any = 10, range: Any = None, density: bool "
           "| None = None, weights: ndarray | None = None) -> tuple[ndarray, tuple[ndarray, ...]]",
           "Histogram in several dimensions: the number of points in each bin.\n\n"
           "Args:\n"
           "    sample (ndarray): (n, dimensions), any dtype but complex ones; or a sequence of "
           "the coordinates, (n,) each.\n" CX_BINS_OF_EACH
           "Returns:\n"
           "    tuple: Counts, with one axis per dimension, as in :func:`histogram`; and a tuple "
           "of the edges.\n"
           "Raises:\n" CX_BAD_POINTS) {
    std::vector<Array> columns;
    if (IsNdArray(a[0])) {
        const Array& sample = Self(a[0]);
        if (sample.ndim() != 2) {
            throw DimensionError{"histogramdd: sample has shape ", sample.shape(),
                                 ", expected (points, dimensions)"};
        }
        CheckDimensions(sample.shape()[1]);
        for (int64_t i = 0; i < sample.shape()[1]; ++i) {
            const ArrayIndex items[] = {Slice{}, i};
            columns.push_back(At(sample, items));
        }
    } else {
        columns = ToArrays("histogramdd", "sample", a[0]);
        CheckDimensions(static_cast<int64_t>(columns.size()));
    }
    const Binned y = CountPoints("histogramdd", columns, a[1], a[2], a[3], a[4], false);
    const Ref counts = Check(Wrap(y.counts));
    const Ref edges = Check(PyTuple_New(static_cast<Py_ssize_t>(y.edges.size())));
    for (size_t i = 0; i < y.edges.size(); ++i) {
        PyTuple_SET_ITEM(edges.get(), static_cast<Py_ssize_t>(i), Wrap(y.edges[i]));
    }
    return Check(PyTuple_Pack(2, counts.get(), edges.get())).Release();
}

}  // namespace
}  // namespace chainerx::python
