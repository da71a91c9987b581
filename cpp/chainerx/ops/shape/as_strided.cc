// Views by strides.
#include <algorithm>

#include "chainerx/core/overlap.h"
#include "chainerx/ops/index/take.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kAsStrided{"as_strided"};

// The strided layout of a view within a memory of elements. A plain value, so that a gradient may
// save it.
struct Places {
    Shape shape;
    Strides strides;
    int64_t offset;
    int64_t low;   // first element of the range
    int64_t high;  // the last one; below `low` if there are none
};

Places FindPlaces(const Shape& shape, const Strides& strides, int64_t offset) {
    Places p{shape, strides, offset, offset, offset};
    for (int8_t i = 0; i < static_cast<int8_t>(shape.size()); ++i) {
        if (shape[i] == 0) {
            p.low = 0;
            p.high = -1;
            return p;
        }
        int64_t reach = 0;
        int64_t& end = strides[i] < 0 ? p.low : p.high;
        if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
            __builtin_add_overflow(end, reach, &end)) {
            throw DimensionError{"as_strided: shape ", shape, " with strides ", strides,
                                 " reaches out of 64 bits"};
        }
    }
    return p;
}

// Returns the elements of a view as indices into a memory that begins with element `low`.
Array Indices(const Places& p, int64_t low, int64_t length, Device& device) {
    const Array all = Arange(Scalar{length}, Dtype::kInt64, device);
    Strides bytes = p.strides;
    for (int64_t& s : bytes) s *= sizeof(int64_t);
    char* first = all.raw_data() + (p.offset - low) * static_cast<int64_t>(sizeof(int64_t));
    return AsContiguous(internal::MakeView(all, p.shape, bytes, first));
}

// Transposes the view: sums gradients of elements `y` of a memory over their addresses, and returns
// those of elements `x`. Elements of x at one address share its gradient.
Array Move(const Array& gy, const Places& x, const Places& y) {
    if (x.high < x.low || y.high < y.low) return Zeros(x.shape, gy.dtype(), gy.device());
    constexpr IndexBoundsMode kMode = IndexBoundsMode::kRaise;
    const int64_t low = std::min(x.low, y.low);
    const int64_t length = std::max(x.high, y.high) - low + 1;
    const Array to = Indices(x, low, length, gy.device());
    const Array from = Indices(y, low, length, gy.device());
    const Array gx = Take(internal::TakeGrad(gy, Shape{length}, 0, from, kMode), to, 0);
    if (!internal::OverlapsItself(x.shape, x.strides, 1)) return gx;
    const Array ones = Ones(x.shape, gy.dtype(), gy.device());
    return Divide(gx, Take(internal::TakeGrad(ones, Shape{length}, 0, to, kMode), to, 0));
}

}  // namespace

Array AsStrided(const Array& x, const Shape& shape, const Strides& strides,
                std::optional<int64_t> storage_offset) {
    constexpr const char* kOp = kAsStrided.name;
    if (shape.size() != strides.size()) {
        throw DimensionError{kOp,     ": shape ",   shape,
                             " has ", shape.size(), " axes, but strides ",
                             strides, " are of ",   strides.size()};
    }
    for (int64_t n : shape) {
        if (n < 0) throw DimensionError{kOp, ": shape ", shape, " has a negative length"};
    }
    const int64_t item = x.GetItemSize();
    CheckedNBytes(kOp, shape, item);
    Strides own = x.strides();
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (x.shape()[i] > 1 && own[i] % item != 0) {
            throw DimensionError{kOp, ": x has strides ", x.strides(),
                                 " in bytes, expected multiples of its item size ", item};
        }
        own[i] = x.shape()[i] > 1 ? own[i] / item : 0;
    }
    const int64_t before = x.raw_data() - static_cast<char*>(x.buffer()->data());
    const int64_t unaligned = before % item;
    const Places of_x = FindPlaces(x.shape(), own, before / item);
    const Places of_y = FindPlaces(shape, strides, storage_offset.value_or(of_x.offset));
    const int64_t length = (x.buffer()->nbytes() - unaligned) / item;
    if (of_y.low <= of_y.high && (of_y.low < 0 || of_y.high >= length)) {
        throw DimensionError{kOp,         ": shape ",
                             shape,       ", strides ",
                             strides,     " and storage_offset ",
                             of_y.offset, " reach elements ",
                             of_y.low,    " to ",
                             of_y.high,   ", but the memory of x has ",
                             length};
    }
    Strides bytes = strides;
    for (int8_t i = 0; i < static_cast<int8_t>(shape.size()); ++i) {
        bytes[i] = shape[i] > 1 ? strides[i] * item : 0;
    }
    const bool is_empty = of_y.high < of_y.low;
    char* first = is_empty
                      ? x.raw_data()
                      : static_cast<char*>(x.buffer()->data()) + unaligned + of_y.offset * item;
    Array y = internal::MakeView(x, shape, is_empty ? Strides(shape, item) : bytes, first);
    if (!is_empty && internal::OverlapsItself(shape, bytes, item)) y.body()->read_only = true;
    if (Record rec{kAsStrided, {x}, y}) {
        rec.Grad(0, [of_x, of_y](const Array& gy) { return Move(gy, of_x, of_y); });
    }
    return y;
}

}  // namespace chainerx
