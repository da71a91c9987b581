// Basic indexing: views, and assignment to them.
#include "chainerx/ops/index/indexing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "chainerx/core/overlap.h"
#include "chainerx/kernels/elementwise/where.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/elementwise/out_argument.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/embed.h"

namespace chainerx {
namespace {

constexpr OpInfo kGetitem{"getitem"};

using internal::Placement;

[[noreturn]] CX_COLD void ThrowOutOfRange(int64_t i, int axis, const Shape& shape) {
    throw IndexError{"getitem: index ", i, " is out of range for axis ", axis, " of shape ", shape};
}

// Adds the item's dimension; returns the offset in elements along the axis.
int64_t LocateSlice(const Slice& slice, int64_t n, int64_t* length) {
    const int64_t step = slice.step;
    if (step == 0) throw DimensionError{"getitem: the step of a slice is 0"};
    const auto clamp = [n](int64_t i, int64_t lo, int64_t hi) {
        return std::clamp(i < 0 ? i + n : i, lo, hi);
    };
    if (step > 0) {
        const int64_t start = slice.start ? clamp(*slice.start, 0, n) : 0;
        const int64_t stop = slice.stop ? clamp(*slice.stop, 0, n) : n;
        *length = stop > start ? (stop - start - 1) / step + 1 : 0;
        return *length == 0 ? 0 : start;
    }
    const int64_t start = slice.start ? clamp(*slice.start, -1, n - 1) : n - 1;
    const int64_t stop = slice.stop ? clamp(*slice.stop, -1, n - 1) : -1;
    *length = 0;
    if (start > stop) {
        // Unsigned, since the negated smallest step overflows.
        const auto distance = static_cast<uint64_t>(start - stop - 1);
        *length = static_cast<int64_t>(distance / (0 - static_cast<uint64_t>(step))) + 1;
    }
    return *length == 0 ? 0 : start;
}

// The view of an array of `shape` and `strides` that `indices` select.
struct Located {
    Shape shape;
    Strides strides;
    int64_t offset{0};

    Located(const Shape& from, const Strides& from_strides, std::span<const ArrayIndex> indices) {
        int8_t used = 0;  // axes that the items other than "..." consume
        bool ellipsis = false;
        for (const ArrayIndex& index : indices) {
            if (index.tag() == ArrayIndex::Tag::kEllipsis) {
                if (ellipsis) throw IndexError{"getitem: more than one '...' in an index"};
                ellipsis = true;
            } else if (index.tag() != ArrayIndex::Tag::kNewAxis) {
                ++used;
            }
        }
        if (used > from.ndim()) {
            throw IndexError{"getitem: too many indices, ", static_cast<int>(used),
                             " for an array of shape ", from};
        }
        int8_t axis = 0;
        const auto keep = [&](int8_t count) {
            for (; count > 0; --count, ++axis) {
                shape.push_back(from[axis]);
                strides.push_back(from_strides[axis]);
            }
        };
        for (const ArrayIndex& index : indices) {
            switch (index.tag()) {
                case ArrayIndex::Tag::kSingle: {
                    int64_t i = index.index();
                    if (i < 0) i += from[axis];
                    if (i < 0 || i >= from[axis]) ThrowOutOfRange(index.index(), axis, from);
                    offset += i * from_strides[axis++];
                    break;
                }
                case ArrayIndex::Tag::kSlice: {
                    int64_t length;
                    offset += LocateSlice(index.slice(), from[axis], &length) * from_strides[axis];
                    shape.push_back(length);
                    // A step over one element or none may be anything; it must not overflow the
                    // stride.
                    strides.push_back(length > 1 ? from_strides[axis] * index.slice().step
                                                 : from_strides[axis]);
                    ++axis;
                    break;
                }
                case ArrayIndex::Tag::kNewAxis:
                    shape.push_back(1);
                    strides.push_back(0);
                    break;
                case ArrayIndex::Tag::kEllipsis:
                    keep(static_cast<int8_t>(from.ndim() - used));
                    break;
            }
        }
        keep(static_cast<int8_t>(from.ndim() - axis));
    }
};

void RecordView(const Array& x, const Array& y, Placement&& placement) {
    if (Record rec{kGetitem, {x}, y}) {
        rec.Grad(0, [placement](const Array& gy) { return internal::Embed(gy, placement); });
    }
}

void CheckCast(const Array& x, Dtype dtype) {
    if (GetCategory(dtype) > GetCategory(x.dtype())) {
        throw DtypeError{"setitem: cannot write ", dtype, " into an array of ", x.dtype(),
                         "; cast with astype()"};
    }
}

// Drops leading dimensions of length 1 that x lacks, and broadcasts to x.
Array Fit(const Array& value, const Shape& shape) {
    Array v = internal::Detached(value);
    if (v.shape() == shape) return v;
    int8_t drop = 0;
    while (v.ndim() - drop > shape.ndim() && v.shape()[drop] == 1) ++drop;
    if (drop > 0) v = Reshape(v, Shape{v.shape().begin() + drop, v.shape().end()});
    if (!IsBroadcastable(v.shape(), shape)) {
        throw DimensionError{"setitem: value of shape ", value.shape(),
                             " does not broadcast to shape ", shape};
    }
    return BroadcastTo(v, shape);
}

}  // namespace

Array At(const Array& x, int64_t i) {
    const Shape& from = x.shape();
    if (from.ndim() == 0) throw IndexError{"getitem: too many indices, 1 for an array of shape ()"};
    const int64_t n = from[0];
    const int64_t at = i < 0 ? i + n : i;
    if (at < 0 || at >= n) ThrowOutOfRange(i, 0, from);
    Shape shape;
    Strides strides;
    shape.resize(from.ndim() - 1);
    strides.resize(from.ndim() - 1);
    for (int8_t k = 1; k < from.ndim(); ++k) {
        shape[k - 1] = from[k];
        strides[k - 1] = x.strides()[k];
    }
    Array y = internal::MakeView(x, shape, strides, x.raw_data() + at * x.strides()[0]);
    if (x.body()->slot == nullptr) return y;
    if (Record rec{kGetitem, {x}, y}) {
        // Saves no Placement, which the arena of a node has no room for: all else follows from gy.
        rec.Grad(0, [n, at](const Array& gy) {
            Shape whole{n};
            for (int64_t length : gy.shape()) whole.push_back(length);
            const Strides packed{gy.shape(), gy.GetItemSize()};
            return internal::Embed(gy, {whole, packed, at * gy.GetNBytes()});
        });
    }
    return y;
}

Array At(const Array& x, std::span<const ArrayIndex> indices) {
    const Located view{x.shape(), x.strides(), indices};
    Array y = internal::MakeView(x, view.shape, view.strides, x.raw_data() + view.offset);
    if (x.body()->slot != nullptr) {
        const Located packed{x.shape(), Strides{x.shape(), x.GetItemSize()}, indices};
        RecordView(x, y, {x.shape(), packed.strides, packed.offset});
    }
    return y;
}

Array WritableAt(const Array& x, std::span<const ArrayIndex> indices) {
    internal::CheckInPlaceOutput("setitem", x);
    const Located view{x.shape(), x.strides(), indices};
    return internal::MakeView(x, view.shape, view.strides, x.raw_data() + view.offset);
}

void internal::CheckScalarFits(const char* op, Dtype dtype, const Scalar& value) {
    // bool accepts the integers 0 and 1.
    if (GetCategory(value.kind()) > std::max(GetCategory(dtype), DtypeCategory::kInt)) {
        throw DtypeError{op, ": cannot write ", value, " into an array of ", dtype};
    }
    CheckIntFits(op, dtype, value);
}

void internal::CheckIntFits(const char* op, Dtype dtype, const Scalar& value) {
    if (value.kind() < DtypeKind::kFloat && IsInt(dtype) && !value.Fits(dtype)) [[unlikely]] {
        throw OverflowError{op, ": ", value, " does not fit in ", dtype};
    }
}

void internal::CheckFillFits(const char* op, Dtype dtype, const Scalar& value) {
    if (value.kind() == DtypeKind::kComplex && !IsComplex(dtype)) [[unlikely]] {
        throw DtypeError{op, ": cannot write ", value, " into an array of ", dtype};
    }
    CheckIntFits(op, dtype, value);
    if (value.kind() != DtypeKind::kFloat || !IsInt(dtype)) return;
    VisitInt(dtype, [&]<typename T>() {
        using Limits = std::numeric_limits<T>;
        const double whole = std::trunc(value.To<double>());
        // The end of the range is a power of 2, which a double represents.
        const double end = 2 * static_cast<double>(Limits::max() / 2 + 1);
        if (!(whole >= static_cast<double>(Limits::min()) && whole < end)) {
            throw OverflowError{op, ": ", value, " does not fit in ", dtype};
        }
    });
}

void Assign(const Array& x, const Array& value) {
    internal::CheckInPlaceOutput("setitem", x);
    internal::CheckInPlaceInput("setitem", value);
    CheckSameDevice("setitem", x.device(), value.device());
    CheckCast(x, value.dtype());
    Array v = Fit(value, x.shape());
    if (x.GetTotalSize() == 0) return;
    if (internal::MustCopy(x, v)) v = Copy(v);
    x.buffer()->MarkWritten();
    CallOn<kernels::AsType>(x.device(), v, x);
}

void Assign(const Array& x, const Scalar& value) {
    internal::CheckInPlaceOutput("setitem", x);
    internal::CheckScalarFits("setitem", x.dtype(), value);
    x.buffer()->MarkWritten();
    CallOn<kernels::Fill>(x.device(), x, value);
}

void internal::AssignWhere(const Array& x, const Array& condition, const Array& value) {
    if (x.GetTotalSize() == 0) return;
    const Array to = Detached(x);
    Array mask = AsType(Detached(condition), Dtype::kBool, false);
    Array from = Detached(value);
    if (MustCopy(to, mask)) mask = Copy(mask);
    if (MustCopy(to, from)) from = Copy(from);
    x.buffer()->MarkWritten();
    CallOn<kernels::Where>(x.device(), mask, from, to, to);
}

namespace {

void CheckCopyTo(const Array& dst, const Array& src) {
    internal::CheckInPlaceOutput("copyto", dst);
    internal::CheckInPlaceInput("copyto", src);
    CheckSameDevice("copyto", dst.device(), src.device());
    if (dst.dtype() != src.dtype()) {
        throw DtypeError{"copyto: dtype of src is ", src.dtype(), ", of dst ", dst.dtype()};
    }
    if (!IsBroadcastable(src.shape(), dst.shape())) {
        throw DimensionError{"copyto: src of shape ", src.shape(), " does not broadcast to ",
                             dst.shape(), " of dst"};
    }
}

}  // namespace

void CopyTo(const Array& dst, const Array& src, bool where) {
    CheckCopyTo(dst, src);
    if (where) Assign(dst, src);
}

void CopyTo(const Array& dst, const Array& src, const Array& where) {
    CheckCopyTo(dst, src);
    CheckSameDevice("copyto", dst.device(), where.device());
    if (!IsBroadcastable(where.shape(), dst.shape())) {
        throw DimensionError{"copyto: where of shape ", where.shape(), " does not broadcast to ",
                             dst.shape(), " of dst"};
    }
    internal::AssignWhere(dst, where, src);
}

}  // namespace chainerx
