// Gather along an axis, and the indices of nonzero elements.
#include "chainerx/ops/index/take.h"

#include <algorithm>

#include "chainerx/kernels/index/indexing.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/along_axis.h"

namespace chainerx {
namespace {

constexpr OpInfo kTakeGrad{"take_grad", &kernels::AddAt::kInfo};
constexpr OpInfo kEmbedId{"embed_id", &kernels::Take::kInfo};

}  // namespace

Array internal::TakeGrad(const Array& gy, const Shape& shape, int8_t axis, const Array& indices,
                         IndexBoundsMode mode) {
    // A sum in 16 bits would lose many small terms.
    const Dtype wide = WideDtype(gy.dtype());
    const Array packed = AsContiguous(AsType(Detached(gy), wide, false));
    Array gx = Zeros(shape, wide, gy.device());
    if (gy.GetTotalSize() != 0) {
        CallOn<kernels::AddAt>(gy.device(), kTakeGrad.name, gx, axis, indices, mode, packed);
    }
    gx = AsType(gx, gy.dtype(), false);
    if (Record rec{kTakeGrad, {gy}, gx}) {
        rec.Grad(0, [axis, indices = KeptOperand{"take", "indices", indices},
                     mode](const Array& ggx) { return Take(ggx, indices(), axis, mode); });
    }
    return gx;
}

KeptOperand internal::CheckIndices(const char* op, const char* name, const Array& x,
                                   const Array& indices) {
    if (!IsInt(indices.dtype())) {
        throw DtypeError{op, ": ", name, " must be of an integer dtype, got ", indices.dtype()};
    }
    CheckSameDevice(op, x.device(), indices.device());
    return {op, name, indices};
}

Array internal::TakeValues(const char* op, const Array& x, const Array& indices, int8_t axis,
                           IndexBoundsMode mode) {
    Shape shape{x.shape().begin(), x.shape().begin() + axis};
    for (int64_t d : indices.shape()) shape.push_back(d);
    for (int8_t i = axis + 1; i < x.ndim(); ++i) shape.push_back(x.shape()[i]);
    CheckedNBytes("take", shape, x.GetItemSize());
    if (x.shape()[axis] == 0 && indices.GetTotalSize() != 0) {
        throw IndexError{"take: cannot take from axis ", static_cast<int>(axis), " of shape ",
                         x.shape(), ", which is empty"};
    }
    Array y = EmptyUnchecked(shape, x.dtype(), x.device());
    if (indices.GetTotalSize() != 0) {
        CallOn<kernels::Take>(x.device(), op, x, axis, indices, mode, y);
    }
    return y;
}

Array Take(const Array& x, const Array& indices, std::optional<int8_t> axis, IndexBoundsMode mode) {
    if (!axis || internal::IsNumberAlong(x, *axis)) {
        return Take(Ravel(x), indices, int8_t{0}, mode);
    }
    const int8_t a = NormalizeAxis("take", *axis, x.ndim());
    // Saves the caller's array, not a contiguous copy.
    return internal::TakeBy(
        "take", x, a,
        [kept = internal::CheckIndices("take", "indices", x, indices)] {
            return AsContiguous(kept());
        },
        mode);
}

Array SelectItem(const Array& x, const Array& t) {
    static constexpr const char* kOp = "select_item";
    if (x.ndim() != 2 || t.ndim() != 1 || x.shape()[0] != t.shape()[0]) {
        throw DimensionError{kOp,       ": x.shape is ",
                             x.shape(), " and t.shape is ",
                             t.shape(), ", expected (rows, columns) and (rows,)"};
    }
    const int64_t rows = x.shape()[0];
    const int64_t columns = x.shape()[1];
    if (columns == 0 && rows != 0) throw IndexError{kOp, ": x of shape ", x.shape(), " is empty"};
    const auto positions = [rows, columns, kept = internal::CheckIndices(kOp, "t", x, t)] {
        const Array& t = kept();
        const Array out = Arange(Scalar{0}, Scalar{rows * columns},
                                 Scalar{std::max<int64_t>(columns, 1)}, Dtype::kInt64, t.device());
        CallOn<kernels::LinearIndex>(t.device(), kOp, AsContiguous(t), columns, 1, out);
        return out;
    };
    return internal::TakeBy(kOp, Ravel(x), 0, positions);
}

Array EmbedId(const Array& ids, const Array& w, int64_t ignore_label) {
    constexpr const char* kOp = kEmbedId.name;
    const KeptOperand given = internal::CheckIndices(kOp, "ids", w, ids);
    const auto ignored = [ignore_label](const Array& ids) {
        return ExpandDims(Equal(ids, Scalar{ignore_label}), Axes{static_cast<int8_t>(ids.ndim())});
    };
    const auto rows = [ignore_label](const Array& ids) {
        return AsContiguous(Where(Equal(ids, Scalar{ignore_label}), Scalar{0}, ids));
    };
    const Array found =
        internal::TakeValues(kOp, internal::Detached(w), rows(given()), 0, IndexBoundsMode::kRaise);
    Array y = Where(ignored(given()), Scalar{0}, found);
    if (Record rec{kEmbedId, {w}, y}) {
        rec.Grad(0, [shape = w.shape(), given, ignored, rows](const Array& gy) {
            return internal::TakeGrad(Where(ignored(given()), Scalar{0}, gy), shape, 0,
                                      rows(given()), IndexBoundsMode::kRaise);
        });
    }
    return y;
}

int64_t internal::CountTrue(const Array& mask) {
    if (mask.GetTotalSize() == 0) return 0;
    const Array count = EmptyUnchecked({}, Dtype::kInt64, mask.device());
    CallOn<kernels::NonzeroCount>(mask.device(), mask, count);
    int64_t n;
    mask.device().CopyToHost(&n, count.raw_data(), sizeof(n));
    return n;
}

namespace {

// Returns a row for each dimension of a contiguous bool array.
Array FindTrue(const Array& mask) {
    const int64_t count = internal::CountTrue(mask);
    Array found = EmptyUnchecked({mask.ndim(), count}, Dtype::kInt64, mask.device());
    if (count != 0) CallOn<kernels::Nonzero>(mask.device(), mask, found);
    return found;
}

}  // namespace

Array internal::TruePlaces(const Array& mask) { return At(FindTrue(mask), 0); }

Array internal::CompressValues(const char* op, const Array& x, const Array& mask, int8_t axis) {
    if (x.ndim() != 1 || !x.IsContiguous() || !HasKernel<kernels::Compress>(x.device())) {
        return TakeValues(op, x, TruePlaces(mask), axis, IndexBoundsMode::kRaise);
    }
    const int64_t count = CountTrue(mask);
    Array y = EmptyUnchecked({count}, x.dtype(), x.device());
    if (count != 0) CallOn<kernels::Compress>(x.device(), x, mask, y);
    return y;
}

std::vector<Array> Nonzero(const Array& x) {
    if (x.ndim() == 0) throw DimensionError{"nonzero: an array of shape () has no positions"};
    const Array found = FindTrue(AsContiguous(AsType(internal::Detached(x), Dtype::kBool, false)));
    std::vector<Array> out;
    for (int8_t i = 0; i < x.ndim(); ++i) out.push_back(At(found, i));
    return out;
}

namespace {

bool AnyTrue(const Array& mask) { return internal::CountTrue(AsContiguous(mask)) != 0; }

}  // namespace

bool Contains(const Array& x, const Scalar& value) {
    return AnyTrue(Equal(internal::Detached(x), value));
}

bool Contains(const Array& x, const Array& value) {
    return AnyTrue(Equal(internal::Detached(x), internal::Detached(value)));
}

}  // namespace chainerx
