// Counts of integers, and histograms.
#include "chainerx/ops/index/histogram.h"

#include <algorithm>
#include <vector>

#include "chainerx/core/error.h"
#include "chainerx/ops/index/indexing.h"
#include "chainerx/ops/shape/manipulation.h"
#include "chainerx/ops/shape/view.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/ndarray/ndarray.h"
#include "chainerx/python/ref.h"

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
    "Between which edges numbers lie.\n\n"
    "Args:\n"
    "    x (ndarray): Any shape, any dtype but complex ones.\n"
    "    bins (ndarray): (n,), ascending or descending; of neither, equal ones.\n"
    "    right (bool): A number that equals an edge belongs to the bin that ends with it.\n"
    "Returns:\n"
    "    ndarray: int64, the shape of ``x``: from 0, before all edges, to n, behind them. No "
    "gradient.\n"
    "Raises:\n"
    "    ValueError: If ``bins`` neither ascend nor descend.\n"
    "    DimensionError: If ``bins`` have not one dimension.\n"
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
    "How often the integers 0, 1, 2, ... are there.\n\n"
    "Args:\n"
    "    x (ndarray): (n,), bool or integers, none below 0.\n"
    "    weights (ndarray): (n,), any dtype: what each element adds, if not 1.\n"
    "    minlength (int): The result has at least so many numbers.\n"
    "Returns:\n"
    "    ndarray: int64, up to the largest element. With weights, their sums: in their dtype "
    "if it is a float or complex one, else float64; differentiable in them, any order.\n"
    "Raises:\n"
    "    ValueError: If an element, or ``minlength``, is below 0.\n"
    "    DimensionError: If ``x`` has not one dimension, or ``weights`` another shape.\n"
    "    DtypeError: If ``x`` has no integers.") {
    return Wrap(BinCount(ToArray("bincount", "x", a[0]), ToWeights("bincount", a[1]),
                         a[2] == nullptr ? 0 : ToIntNotBool("bincount", "minlength", a[2])));
}

#define CX_A "    a (ndarray): Any shape, any dtype but complex ones.\n"
#define CX_BINS                                                                                 \
    "    bins (int, ndarray or str): How many; or edges, ascending; or the name of a rule for " \
    "their number: 'auto', 'fd', 'doane', 'scott', 'stone', 'rice', 'sturges', 'sqrt'.\n"
#define CX_RANGE                                                                                \
    "    range (tuple of float): From where to where, if not from the smallest element to the " \
    "largest; edges that are given are used as they are.\n"
#define CX_BAD_BINS                                                                           \
    "    ValueError: If edges descend, bins are fewer than 1 or too many for the dtype, the " \
    "range is not finite or ends before it begins, or there is no such rule.\n"               \
    "    DtypeError: If ``a`` is complex.\n"                                                  \
    "    TypeError: For a rule with weights.\n"

CX_ROUTINE(
    histogram_bin_edges,
    "a: ndarray, bins: int | str | ndarray | Sequence[float] = 10, range: tuple[float, "
    "float] | None = None, weights: ndarray | None = None) -> ndarray",
    "The edges that histogram() uses.\n\n"
    "Args:\n" CX_A CX_BINS CX_RANGE
    "    weights (ndarray): The shape of ``a``; it changes nothing.\n"
    "Returns:\n"
    "    ndarray: One more than there are bins, in the dtype of a float ``a``, else float64; "
    "edges that are given, as they are. No gradient.\n"
    "Raises:\n" CX_BAD_BINS
    "    DimensionError: If edges have not one dimension, or ``weights`` another shape.") {
    const Array& x = ToArray("histogram_bin_edges", "a", a[0]);
    CheckHistogramWeights("histogram_bin_edges", x, ToWeights("histogram_bin_edges", a[3]));
    return Wrap(HistogramBinEdges(x, ToEdges("histogram_bin_edges", x, a[1],
                                             ToRange("histogram_bin_edges", a[2]), Given(a[3]))));
}

CX_ROUTINE(histogram,
           "a: ndarray, bins: int | str | ndarray | Sequence[float] = 10, range: tuple[float, "
           "float] | None = None, density: bool | None = None, weights: ndarray | None = None) -> "
           "tuple[ndarray, ndarray]",
           "How many elements lie between edges.\n\n"
           "Args:\n" CX_A CX_BINS CX_RANGE
           "    density (bool): Divide by the widths and the total: the integral is 1.\n"
           "    weights (ndarray): The shape of ``a``: what each element adds, if not 1.\n"
           "Returns:\n"
           "    tuple of ndarray: Counts, int64, or sums of weights, as of :func:`bincount`, "
           "differentiable in ``weights``; and the edges.\n"
           "Raises:\n" CX_BAD_BINS
           "    DimensionError: If edges have not one dimension, or ``weights`` another shape.\n"
           "Note:\n    What equals an edge belongs to the bin that begins with it, what equals the "
           "last one to the last bin.") {
    const Array& x = ToArray("histogram", "a", a[0]);
    const std::optional<Array> weights = ToWeights("histogram", a[4]);
    const Array edges =
        ToEdges("histogram", x, a[1], ToRange("histogram", a[2]), weights.has_value());
    const bool density = Given(a[3]) && ToBool(a[3], false);
    const Ref counts = Check(Wrap(Histogram(x, edges, weights, density)));
    const Ref at = Check(Wrap(edges));
    return Check(PyTuple_Pack(2, counts.get(), at.get())).Release();
}

#define CX_BINS_OF_EACH                                                             \
    "    bins: How many, or ascending edges; or one of these for each dimension.\n" \
    "    range (sequence): For each dimension None, or from where to where.\n"      \
    "    density (bool): Divide by the sizes of the bins and the total.\n"          \
    "    weights (ndarray): (n,): what each point adds, if not 1.\n"
#define CX_BAD_POINTS                                                                          \
    "    ValueError: If edges descend, bins are fewer than 1 or too many for the dtype, or a " \
    "range is not finite or ends before it begins.\n"                                          \
    "    DimensionError: If shapes do not fit.\n"                                              \
    "    DtypeError: For complex numbers.\n"

CX_ROUTINE(histogram2d,
           "x: ndarray, y: ndarray, bins: Any = 10, range: Any = None, density: bool | None = "
           "None, weights: ndarray | None = None) -> tuple[ndarray, ndarray, ndarray]",
           "How many points lie between edges of two dimensions.\n\n"
           "Args:\n"
           "    x (ndarray): (n,), first coordinates, any dtype but complex ones.\n"
           "    y (ndarray): (n,), second ones.\n" CX_BINS_OF_EACH
           "Returns:\n"
           "    tuple of ndarray: Counts, (bins of x, bins of y), as of :func:`histogram`; and the "
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

CX_ROUTINE(
    histogramdd,
    "sample: ndarray | Sequence[ndarray], bins: Any = 10, range: Any = None, density: bool "
    "| None = None, weights: ndarray | None = None) -> tuple[ndarray, tuple[ndarray, ...]]",
    "How many points lie between edges of several dimensions.\n\n"
    "Args:\n"
    "    sample (ndarray): (n, dimensions), any dtype but complex ones; or a sequence of the "
    "coordinates, (n,) each.\n" CX_BINS_OF_EACH
    "Returns:\n"
    "    tuple: Counts, with an axis for each dimension, as of :func:`histogram`; and a "
    "tuple of the edges.\n"
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
