#include "chainerx/ops/index/index_arrays.h"

#include "chainerx/ops/elementwise/composed.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

// Returns 0, 1, ..., n - 1 along one of `ndim` axes.
Array RangeAlong(int8_t axis, int8_t ndim, int64_t n, Dtype dtype, Device& device) {
    Shape shape;
    shape.resize(ndim, 1);
    shape[axis] = n;
    return Reshape(Arange(Scalar{n}, dtype, device), shape);
}

}  // namespace

Array Argwhere(const Array& x) {
    if (x.ndim() == 0) {  // one empty row, or none
        return Reshape(Argwhere(Reshape(x, {1})), {-1, 1}).At({Slice{}, Slice{0, 0, 1}});
    }
    return Transpose(Stack(Nonzero(x)));
}

Array Flatnonzero(const Array& x) { return Nonzero(Ravel(internal::Detached(x)))[0]; }

std::vector<Array> SparseIndices(const Shape& dimensions, Dtype dtype, Device& device) {
    CheckedNBytes("indices", dimensions, GetItemSize(dtype));
    std::vector<Array> out;
    for (int8_t i = 0; i < dimensions.ndim(); ++i) {
        out.push_back(RangeAlong(i, dimensions.ndim(), dimensions[i], dtype, device));
    }
    return out;
}

Array Indices(const Shape& dimensions, Dtype dtype, Device& device) {
    if (dimensions.empty()) return Empty({0}, dtype, device);
    std::vector<Array> grid = SparseIndices(dimensions, dtype, device);
    for (Array& along : grid) along = BroadcastTo(along, dimensions);
    return Stack(grid);
}

std::vector<Array> Ix(const std::vector<Array>& vectors) {
    std::vector<Array> out;
    if (vectors.size() > kMaxNdim) internal::ThrowTooManyDims(static_cast<int64_t>(vectors.size()));
    const auto ndim = static_cast<int8_t>(vectors.size());
    for (int8_t i = 0; i < ndim; ++i) {
        const Array& x = vectors[static_cast<size_t>(i)];
        if (x.ndim() != 1) {
            throw DimensionError{"ix_: argument ", static_cast<int>(i), " has shape ", x.shape(),
                                 ", expected one dimension"};
        }
        CheckSameDevice("ix_", vectors[0].device(), x.device());
        const Array along = IsBool(x.dtype()) ? Nonzero(x)[0] : x;
        Shape shape;
        shape.resize(ndim, 1);
        shape[i] = along.shape()[0];
        out.push_back(Reshape(along, shape));
    }
    return out;
}

std::vector<Array> DiagIndices(int64_t n, int8_t ndim, Device& device) {
    if (ndim < 0) throw DimensionError{"diag_indices: ndim is ", static_cast<int>(ndim)};
    if (n < 0) throw DimensionError{"diag_indices: n is ", n};
    const Array along = Arange(Scalar{n}, Dtype::kInt64, device);
    return std::vector<Array>(static_cast<size_t>(ndim), along);
}

std::vector<Array> TrilIndices(int64_t n, int64_t k, std::optional<int64_t> m, Device& device) {
    return Nonzero(Tri(n, m.value_or(n), k, Dtype::kBool, device));
}

std::vector<Array> TriuIndices(int64_t n, int64_t k, std::optional<int64_t> m, Device& device) {
    const int64_t below = k == INT64_MIN ? k : k - 1;
    return Nonzero(LogicalNot(Tri(n, m.value_or(n), below, Dtype::kBool, device)));
}

std::vector<Array> DiagIndicesFrom(const Array& x) {
    bool equal = x.ndim() >= 2;
    for (const int64_t d : x.shape()) equal = equal && d == x.shape()[0];
    if (!equal) {
        throw DimensionError{"diag_indices_from: arr has shape ", x.shape(),
                             ", expected 2 equal dimensions or more"};
    }
    return DiagIndices(x.shape()[0], x.ndim(), x.device());
}

namespace {

void CheckMatrix(const char* op, const Array& x) {
    if (x.ndim() == 2) return;
    throw DimensionError{op, ": arr has shape ", x.shape(), ", expected 2 dimensions"};
}

}  // namespace

std::vector<Array> TrilIndicesFrom(const Array& x, int64_t k) {
    CheckMatrix("tril_indices_from", x);
    return TrilIndices(x.shape()[0], k, x.shape()[1], x.device());
}

std::vector<Array> TriuIndicesFrom(const Array& x, int64_t k) {
    CheckMatrix("triu_indices_from", x);
    return TriuIndices(x.shape()[0], k, x.shape()[1], x.device());
}

namespace {

// Converts to int64, outside all graphs.
Array Integers(const char* op, const char* name, const Array& x) {
    if (!IsInt(x.dtype())) {
        throw DtypeError{op, ": ", name, " must be of an integer dtype, got ", x.dtype()};
    }
    if (x.dtype() == Dtype::kUInt64 && x.GetTotalSize() != 0) {
        if (const auto most = AMax(x).Item<uint64_t>(); most > INT64_MAX) {
            throw ValueError{op, ": index ", most, " in ", name, " does not fit in int64"};
        }
    }
    return AsType(internal::Detached(x), Dtype::kInt64, false);
}

// ValueError unless all of `indices` are in [0, n).
void CheckRange(const char* op, const char* name, const Array& indices, int64_t n) {
    if (indices.GetTotalSize() == 0) return;
    for (const Array& extreme : {AMin(indices), AMax(indices)}) {
        const auto i = extreme.Item<int64_t>();
        if (i < 0 || i >= n) {
            throw ValueError{op, ": index ", i, " in ", name, " is out of range for length ", n};
        }
    }
}

Array WithinAxis(const Array& indices, int64_t n, IndexBoundsMode mode) {
    if (mode == IndexBoundsMode::kWrap || mode == IndexBoundsMode::kClip) {
        if (n == 0 && indices.GetTotalSize() != 0) {
            throw ValueError{"ravel_multi_index: indices into an axis of length 0"};
        }
        if (mode == IndexBoundsMode::kWrap) return Remainder(indices, Scalar{n});
        return Clip(indices, Scalar{0}, Scalar{n - 1});
    }
    CheckRange("ravel_multi_index", "multi_index", indices, n);
    return indices;
}

// Calls f(axis) for each axis, first for the one whose index has stride 1.
void EachAxis(int8_t ndim, IndexOrder order, const auto& f) {
    for (int8_t i = 0; i < ndim; ++i) f(order == IndexOrder::kC ? int8_t(ndim - 1 - i) : i);
}

}  // namespace

Array RavelMultiIndex(const std::vector<Array>& multi_index, const Shape& dims,
                      const std::vector<IndexBoundsMode>& modes, IndexOrder order) {
    static constexpr const char* kOp = "ravel_multi_index";
    if (static_cast<int64_t>(multi_index.size()) != dims.size() || dims.empty()) {
        throw DimensionError{kOp, ": multi_index has ", multi_index.size(),
                             " arrays, but dims are ", dims};
    }
    if (modes.size() != multi_index.size()) {
        throw DimensionError{kOp, ": ", modes.size(), " modes for dims ", dims};
    }
    CheckedNBytes(kOp, dims, 1);
    Array flat;
    int64_t factor = 1;
    EachAxis(dims.ndim(), order, [&](int8_t a) {
        const Array& given = multi_index[static_cast<size_t>(a)];
        CheckSameDevice(kOp, multi_index[0].device(), given.device());
        const Array i =
            WithinAxis(Integers(kOp, "multi_index", given), dims[a], modes[static_cast<size_t>(a)]);
        const Array term = Multiply(i, Scalar{factor});
        flat = flat.is_null() ? term : Add(flat, term);
        factor *= dims[a];
    });
    return flat;
}

std::vector<Array> UnravelIndex(const Array& indices, const Shape& shape, IndexOrder order) {
    static constexpr const char* kOp = "unravel_index";
    CheckedNBytes(kOp, shape, 1);
    Array rest = Integers(kOp, "indices", indices);
    CheckRange(kOp, "indices", rest, shape.GetTotalSize());
    std::vector<Array> out(static_cast<size_t>(shape.ndim()));
    EachAxis(shape.ndim(), order, [&](int8_t a) {
        out[static_cast<size_t>(a)] = Remainder(rest, Scalar{shape[a]});
        rest = FloorDivide(rest, Scalar{shape[a]});
    });
    return out;
}

}  // namespace chainerx
