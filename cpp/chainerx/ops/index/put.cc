// Writes to many elements of an array at once.
#include <algorithm>

#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/elementwise/out_argument.h"
#include "chainerx/ops/index/index_arrays.h"
#include "chainerx/ops/index/index_update.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/rearrange.h"

namespace chainerx {
namespace {

// Returns `values` outside all graphs, after checking that they may be written to x.
Array Checked(const char* op, const Array& x, const Array& values) {
    internal::CheckInPlaceOutput(op, x);
    internal::CheckInPlaceInput(op, values);
    CheckSameDevice(op, x.device(), values.device());
    internal::CheckWrittenDtype(op, x, values);
    return internal::Detached(values);
}

Array CheckedMask(const char* op, const Array& x, const Array& mask) {
    CheckSameDevice(op, x.device(), mask.device());
    if (mask.GetTotalSize() != x.GetTotalSize()) {
        throw DimensionError{op, ": mask has shape ", mask.shape(), ", but the array ", x.shape()};
    }
    return Reshape(internal::Detached(mask), x.shape());
}

// Returns n values, repeated if there are fewer; a single value stays as it is.
Array ValuesFor(const Array& values, int64_t n) {
    const int64_t size = values.GetTotalSize();
    if (size == 1) return Reshape(values, Shape{});
    const Array flat = AsContiguous(Ravel(values));
    const int64_t item = flat.GetItemSize();
    if (size >= n) return internal::MakeView(flat, {n}, {item}, flat.raw_data());
    const Array y = EmptyUnchecked({n}, values.dtype(), values.device());
    const int64_t whole = n / size;
    const auto copy = [&](int64_t rows, int64_t columns, int64_t begin) {
        const Shape shape{rows, columns};
        CallOn<kernels::AsType>(
            y.device(), internal::MakeView(flat, shape, {0, item}, flat.raw_data()),
            internal::MakeView(y, shape, {columns * item, item}, y.raw_data() + begin * item));
    };
    copy(whole, size, 0);
    if (n % size != 0) copy(1, n % size, whole * size);
    return y;
}

}  // namespace

void Put(const Array& x, const Array& indices, const Array& values, IndexBoundsMode mode) {
    static constexpr const char* kOp = "put";
    const Array v = Checked(kOp, x, values);
    if (!IsInt(indices.dtype())) {
        throw DtypeError{kOp, ": ind must be of an integer dtype, got ", indices.dtype()};
    }
    CheckSameDevice(kOp, x.device(), indices.device());
    if (v.GetTotalSize() == 0) return;  // as NumPy
    const Array at = Ravel(internal::Detached(indices));
    internal::ScatterFlat(kOp, x, at, mode, ValuesFor(v, at.GetTotalSize()));
}

void Place(const Array& x, const Array& mask, const Array& values) {
    static constexpr const char* kOp = "place";
    const Array v = Checked(kOp, x, values);
    const Array at = Flatnonzero(CheckedMask(kOp, x, mask));
    if (at.GetTotalSize() == 0) return;
    if (v.GetTotalSize() == 0) throw ValueError{kOp, ": vals are empty, the mask is not"};
    internal::ScatterFlat(kOp, x, at, IndexBoundsMode::kRaise, ValuesFor(v, at.GetTotalSize()));
}

void PutMask(const Array& x, const Array& mask, const Array& values) {
    static constexpr const char* kOp = "putmask";
    const Array v = Checked(kOp, x, values);
    const Array m = CheckedMask(kOp, x, mask);
    if (v.GetTotalSize() == 0) return;  // as NumPy
    const Array repeated = ValuesFor(v, x.GetTotalSize());
    const Array all = repeated.ndim() == 0 ? repeated : Reshape(repeated, x.shape());
    internal::AssignWhere(x, m, AsType(all, x.dtype(), false));
}

void AssignFlat(const Array& x, const std::vector<IndexItem>& items, const Array& values) {
    static constexpr const char* kOp = "flat";
    const Array v = Checked(kOp, x, values);
    const Array all = Arange(Scalar{x.GetTotalSize()}, Dtype::kInt64, x.device());
    const Array at = Ravel(At(all, items));
    if (at.GetTotalSize() == 0) return;
    if (v.GetTotalSize() == 0) throw ValueError{kOp, ": values are empty, of shape ", v.shape()};
    internal::ScatterFlat(kOp, x, at, IndexBoundsMode::kRaise, ValuesFor(v, at.GetTotalSize()));
}

void FillDiagonal(const Array& x, const Array& values, bool wrap) {
    static constexpr const char* kOp = "fill_diagonal";
    const Array v = Checked(kOp, x, values);
    const Shape& shape = x.shape();
    if (x.ndim() < 2)
        throw DimensionError{kOp, ": a has shape ", shape, ", expected 2 axes or more"};
    if (x.ndim() > 2 && std::ranges::count(shape, shape[0]) != shape.size()) {
        throw DimensionError{kOp, ": a has shape ", shape, ", expected axes of one length"};
    }
    if (v.GetTotalSize() == 0) {
        if (x.GetTotalSize() == 0) return;
        throw ValueError{kOp, ": val is empty, of shape ", v.shape()};
    }
    int64_t stride = 0;  // in memory
    for (const int64_t s : x.strides()) stride += s;
    const int64_t n = *std::ranges::min_element(shape);
    if (!(wrap && x.ndim() == 2 && shape[0] > shape[1] + 1 && n > 0)) {
        Assign(internal::MakeView(x, {n}, {stride}, x.raw_data()), Resize(v, {n}));
        return;
    }
    const int64_t step = shape[1] + 1;
    const int64_t count = (x.GetTotalSize() - 1) / step + 1;
    const Array at =
        Arange(Scalar{0}, Scalar{x.GetTotalSize()}, Scalar{step}, Dtype::kInt64, x.device());
    internal::ScatterFlat(kOp, x, at, IndexBoundsMode::kRaise, Resize(v, {count}));
}

}  // namespace chainerx
