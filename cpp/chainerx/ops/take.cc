// Gathering along an axis, choosing, and finding nonzero elements.
#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/kernels/kernel.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/logic.h"
#include "chainerx/ops/view.h"

namespace chainerx {
namespace {

// Zeros of `shape` with gy added at the indices: the gradient of Take.
Array AddAtZeros(const Array& gy, const Shape& shape, int8_t axis, const Array& indices,
                 IndexBoundsMode mode) {
    const Array packed = AsContiguous(internal::Detached(gy));
    Array gx = Zeros(shape, gy.dtype(), gy.device());
    if (gy.GetTotalSize() != 0) {
        CallOn<kernels::AddAt>(gy.device(), gx, axis, indices, mode, packed);
    }
    if (Record rec{"take_grad", {gy}, gx}) {
        rec.Grad(
            0, [axis, indices, mode](const Array& ggx) { return Take(ggx, indices, axis, mode); });
    }
    return gx;
}

}  // namespace

Array internal::CheckIndices(const char* op, const Array& x, const Array& indices) {
    if (!IsInt(indices.dtype())) {
        throw DtypeError{op, ": indices must be of an integer dtype, got ", indices.dtype()};
    }
    CheckSameDevice(op, x.device(), indices.device());
    if (indices.IsContiguous() && indices.body()->slot == nullptr) return indices;
    return AsContiguous(Detached(indices));
}

Array Take(const Array& x, const Array& indices, std::optional<int8_t> axis, IndexBoundsMode mode) {
    if (!axis) return Take(Ravel(x), indices, int8_t{0}, mode);
    const int8_t a = NormalizeAxis("take", *axis, x.ndim());
    const Array idx = internal::CheckIndices("take", x, indices);
    Shape shape{x.shape().begin(), x.shape().begin() + a};
    for (int64_t d : idx.shape()) shape.push_back(d);
    for (int8_t i = a + 1; i < x.ndim(); ++i) shape.push_back(x.shape()[i]);
    CheckedNBytes("take", shape, x.GetItemSize());
    if (x.shape()[a] == 0 && idx.GetTotalSize() != 0) {
        throw IndexError{"take: cannot take from axis ", static_cast<int>(a), " of shape ",
                         x.shape(), ", which is empty"};
    }
    Array y = EmptyUnchecked(shape, x.dtype(), x.device());
    if (idx.GetTotalSize() != 0) CallOn<kernels::Take>(x.device(), x, a, idx, mode, y);
    if (Record rec{"take", {x}, y}) {
        rec.Grad(0, [shape = x.shape(), a, idx, mode](const Array& gy) {
            return AddAtZeros(gy, shape, a, idx, mode);
        });
    }
    return y;
}

std::vector<Array> Nonzero(const Array& x) {
    if (x.ndim() == 0) throw DimensionError{"nonzero: an array of shape () has no positions"};
    const Array mask = AsContiguous(AsType(internal::Detached(x), Dtype::kBool, false));
    int64_t count = 0;
    if (mask.GetTotalSize() != 0) CallOn<kernels::NonzeroCount>(x.device(), mask, &count);
    const Array found = EmptyUnchecked({x.ndim(), count}, Dtype::kInt64, x.device());
    if (count != 0) CallOn<kernels::Nonzero>(x.device(), mask, found);
    std::vector<Array> out;
    for (int8_t i = 0; i < x.ndim(); ++i) out.push_back(At(found, i));
    return out;
}

namespace {

bool AnyTrue(const Array& mask) {
    const Array packed = AsContiguous(mask);
    int64_t count = 0;
    if (mask.GetTotalSize() != 0) CallOn<kernels::NonzeroCount>(mask.device(), packed, &count);
    return count != 0;
}

}  // namespace

bool Contains(const Array& x, const Scalar& value) {
    // Comparisons cast the number to the dtype of the array; 2.5 is not in an array with a 2.
    const bool widen = value.kind() >= DtypeKind::kFloat && !IsDifferentiable(x.dtype());
    const Array values = widen ? AsType(internal::Detached(x), Dtype::kFloat64) : x;
    return AnyTrue(Equal(internal::Detached(values), value));
}

bool Contains(const Array& x, const Array& value) {
    return AnyTrue(Equal(internal::Detached(x), internal::Detached(value)));
}

}  // namespace chainerx
