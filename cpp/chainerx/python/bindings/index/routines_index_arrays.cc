// Arrays of indices.
#include "chainerx/ops/index/index_arrays.h"

#include "chainerx/ops/index/indexing.h"
#include "chainerx/python/bounds_mode.h"
#include "chainerx/python/convert.h"
#include "chainerx/python/device.h"
#include "chainerx/python/values.h"

namespace chainerx::python {
namespace {

#define CX_ARG_DEVICE "    device (str or Device): Default: the default device.\n"

CX_ROUTINE(argwhere, "a: ndarray) -> ndarray",
           "Indices of the elements that are not 0, one per row.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "Returns:\n"
           "    ndarray: int64, of shape (count, ndim), in C order. Not differentiable.") {
    return Wrap(Argwhere(ToArray("argwhere", "a", a[0])));
}

CX_ROUTINE(flatnonzero, "a: ndarray) -> ndarray",
           "Indices, in the flattened array, of the elements that are not 0.\n\n"
           "Args:\n"
           "    a (ndarray): Any shape and dtype.\n"
           "Returns:\n"
           "    ndarray: int64, 1-d. Not differentiable.") {
    return Wrap(Flatnonzero(ToArray("flatnonzero", "a", a[0])));
}

CX_METHOD(nonzero, ") -> tuple[ndarray, ...]", "See chainerx.nonzero().") {
    return WrapTuple(Nonzero(Self(self)));
}

CX_ROUTINE(indices,
           "dimensions: Sequence[int], dtype: DtypeLike | None = None, sparse: bool = False, "
           "device: DeviceLike | None = None) -> Any",
           "The index of each element of an array, along each axis.\n\n"
           "Args:\n"
           "    dimensions (tuple of int): The shape of that array.\n"
           "    dtype: Default: int64.\n"
           "    sparse (bool): Whether to return one array per axis, which broadcast "
           "together.\n" CX_ARG_DEVICE
           "Returns:\n"
           "    ndarray or tuple of ndarray: Of shape ``(ndim, *dimensions)``, in no graph; or one "
           "for each\n    axis, if ``sparse``.\n"
           "Raises:\n"
           "    DimensionError: If a size is negative.") {
    const Shape shape = ToShape("indices", "dimensions", a[0]);
    const Dtype dtype = ToDtypeOr(a[1], Dtype::kInt64);
    if (ToBool(a[2], false)) return WrapTuple(SparseIndices(shape, dtype, ToDevice(a[3])));
    return Wrap(Indices(shape, dtype, ToDevice(a[3])));
}

CX_ROUTINE(
    ix_, "*args: ndarray) -> tuple[ndarray, ...]",
    "An open mesh of vectors, to index with all combinations: ``x[ix_(rows, columns)]``.\n\n"
    "Args:\n"
    "    *args (ndarray): One vector of integers per axis; lists are possible. Bools stand for\n"
    "        the indices where they are True.\n"
    "Returns:\n"
    "    tuple of ndarray: Views, each along an axis of its own. Not differentiable.\n"
    "Raises:\n"
    "    DimensionError: If one is not 1-d.") {
    std::vector<Array> vectors;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[0]); ++i) {
        vectors.push_back(ToIndices("ix_", "args", PyTuple_GET_ITEM(a[0], i), GetDefaultDevice()));
    }
    return WrapTuple(Ix(vectors));
}

int8_t ToNdim(const char* op, PyObject* o) {
    const int64_t ndim = o != nullptr ? ToInt(op, "ndim", o) : 2;
    if (ndim > kMaxNdim) internal::ThrowTooManyDims(ndim);
    return static_cast<int8_t>(std::max<int64_t>(ndim, -1));
}

CX_ROUTINE(diag_indices,
           "n: int, ndim: int = 2, device: DeviceLike | None = None) -> tuple[ndarray, ...]",
           "Indices of the main diagonal of an array with equal sides.\n\n"
           "Args:\n"
           "    n (int): The length of each side.\n"
           "    ndim (int): The number of dimensions.\n" CX_ARG_DEVICE
           "Returns:\n"
           "    tuple of ndarray: int64, one per axis.\n"
           "Raises:\n"
           "    DimensionError: If ``n`` or ``ndim`` is negative.") {
    return WrapTuple(DiagIndices(ToInt("diag_indices", "n", a[0]), ToNdim("diag_indices", a[1]),
                                 ToDevice(a[2])));
}

CX_ROUTINE(diag_indices_from, "arr: ndarray) -> tuple[ndarray, ...]",
           "Indices of the main diagonal of an array.\n\n"
           "Args:\n"
           "    arr (ndarray): 2 dimensions or more, all of one length.\n"
           "Returns:\n"
           "    tuple of ndarray: int64, one per axis, on the device of ``arr``.\n"
           "Raises:\n"
           "    DimensionError: If it has other ones.") {
    return WrapTuple(DiagIndicesFrom(ToArray("diag_indices_from", "arr", a[0])));
}

#define CX_TRIANGLE_INDICES(py, Name, where)                                                      \
    CX_ROUTINE(py,                                                                                \
               "n: int, k: int = 0, m: int | None = None, device: DeviceLike | None = None) -> "  \
               "tuple[ndarray, ndarray]",                                                         \
               "Indices of the elements on and " where                                            \
               " a diagonal of a matrix.\n\n"                                                     \
               "Args:\n"                                                                          \
               "    n (int): The number of rows.\n"                                               \
               "    k (int): Which diagonal: 0 is the main one, those above it are positive.\n"   \
               "    m (int): The number of columns. Default: the number of rows.\n" CX_ARG_DEVICE \
               "Returns:\n"                                                                       \
               "    tuple of ndarray: int64, rows and columns, in C order.\n"                     \
               "Raises:\n"                                                                        \
               "    DimensionError: If a size is negative.") {                                    \
        std::optional<int64_t> m;                                                                 \
        if (Given(a[2])) m = ToInt(#py, "m", a[2]);                                               \
        return WrapTuple(                                                                         \
            Name(ToInt(#py, "n", a[0]), ToDiagonal(#py, "k", a[1]), m, ToDevice(a[3])));          \
    }                                                                                             \
    CX_ROUTINE(py##_from, "arr: ndarray, k: int = 0) -> tuple[ndarray, ndarray]",                 \
               "Indices of the elements on and " where                                            \
               " a diagonal of a given matrix.\n\n"                                               \
               "Args:\n"                                                                          \
               "    arr (ndarray): 2 dimensions, any dtype.\n"                                    \
               "    k (int): Which diagonal: 0 is the main one, those above it are positive.\n"   \
               "Returns:\n"                                                                       \
               "    tuple of ndarray: int64, rows and columns, on the device of ``arr``.\n"       \
               "Raises:\n"                                                                        \
               "    DimensionError: If it has not 2 dimensions.") {                               \
        return WrapTuple(                                                                         \
            Name##From(ToArray(#py "_from", "arr", a[0]), ToDiagonal(#py "_from", "k", a[1])));   \
    }
CX_TRIANGLE_INDICES(tril_indices, TrilIndices, "below")
CX_TRIANGLE_INDICES(triu_indices, TriuIndices, "above")
#undef CX_TRIANGLE_INDICES

IndexOrder ToOrder(const char* op, PyObject* o) {
    if (o == nullptr) return IndexOrder::kC;
    const std::string_view order = ToString(op, "order", o);
    if (order == "C") return IndexOrder::kC;
    if (order == "F") return IndexOrder::kFortran;
    throw ValueError{op, ": order must be 'C' or 'F', got '", order, "'"};
}

CX_ROUTINE(
    ravel_multi_index,
    "multi_index: Sequence[ndarray], dims: Sequence[int], mode: str | Sequence[str] = "
    "'raise', order: str = 'C') -> ndarray",
    "Converts indices along each axis into indices of the flattened array.\n\n"
    "Args:\n"
    "    multi_index (tuple of ndarray): Integers, one array or number per axis; broadcast "
    "together.\n"
    "    dims (tuple of int): The shape of the indexed array.\n"
    "    mode (str or tuple of str): What an index out of range does: 'raise', 'wrap' or 'clip';\n"
    "        for all axes or for each.\n"
    "    order (str): Whether the last index varies fastest ('C') or the first ('F').\n"
    "Returns:\n"
    "    ndarray: int64. Not differentiable.\n"
    "Raises:\n"
    "    ValueError: For an index out of range, or an unknown ``mode`` or ``order``.\n"
    "    DimensionError: If shapes do not broadcast, or the numbers of axes differ.\n"
    "    DtypeError: If the indices are not integers.") {
    static constexpr const char* kOp = "ravel_multi_index";
    std::vector<Array> indices;
    if (!PyList_Check(a[0]) && !PyTuple_Check(a[0])) {
        throw TypeError{kOp, ": multi_index must be a tuple of arrays, got ",
                        Py_TYPE(a[0])->tp_name};
    }
    Device* device = &GetDefaultDevice();
    const Ref list = TrySequence(a[0]);
    const Items items{list.get()};
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        if (IsNdArray(items[i])) device = &Self(items[i]).device();
    }
    for (Py_ssize_t i = 0; i < items.size(); ++i) {
        indices.push_back(ToIndices(kOp, "multi_index", items[i], *device));
    }
    std::vector<IndexBoundsMode> modes(indices.size(), IndexBoundsMode::kRaise);
    if (Given(a[2]) && PyTuple_Check(a[2])) {
        modes.clear();
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a[2]); ++i) {
            modes.push_back(ToBoundsMode(kOp, PyTuple_GET_ITEM(a[2], i)));
        }
    } else if (Given(a[2])) {
        modes.assign(indices.size(), ToBoundsMode(kOp, a[2]));
    }
    return Wrap(RavelMultiIndex(indices, ToShape(kOp, "dims", a[1]), modes, ToOrder(kOp, a[3])));
}

CX_ROUTINE(unravel_index,
           "indices: ndarray | Sequence[int] | int, shape: ShapeLike, order: str = 'C') -> "
           "tuple[ndarray, ...]",
           "Converts indices of the flattened array into indices along each axis.\n\n"
           "Args:\n"
           "    indices: Integers of any dtype and shape.\n"
           "    shape (tuple of int): The shape of the indexed array.\n"
           "    order (str): Whether the last index varies fastest ('C') or the first ('F').\n"
           "Returns:\n"
           "    tuple of ndarray: int64, one array per axis, of the shape of ``indices``. Not "
           "differentiable.\n"
           "Raises:\n"
           "    ValueError: For an index out of range, or an unknown ``order``.\n"
           "    DtypeError: If the indices are not integers.") {
    static constexpr const char* kOp = "unravel_index";
    return WrapTuple(UnravelIndex(ToIndices(kOp, "indices", a[0], GetDefaultDevice()),
                                  ToShape(kOp, "shape", a[1]), ToOrder(kOp, a[2])));
}

#undef CX_ARG_DEVICE

}  // namespace
}  // namespace chainerx::python
