#include "chainerx/ops/shape/view.h"

#include <algorithm>
#include <cstdlib>

#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kTranspose{"transpose", nullptr, Batching::kAxes};
constexpr OpInfo kReshape{"reshape", nullptr, Batching::kShape};
constexpr OpInfo kBroadcastTo{"broadcast_to", nullptr, Batching::kShape};

// Resolves a -1 and checks the size.
[[gnu::always_inline]] inline Shape ResolveShape(const Array& x, const Shape& shape) {
    Shape out = shape;
    int8_t unknown = -1;
    int64_t known = 1;
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        if (shape[i] == -1) {
            if (unknown >= 0) throw DimensionError{"reshape: more than one -1 in shape ", shape};
            unknown = i;
        } else if (shape[i] < 0) {
            throw DimensionError{"reshape: negative dimension in shape ", shape};
        } else if (__builtin_mul_overflow(known, shape[i], &known)) {
            throw DimensionError{"reshape: shape ", shape, " is too large to address"};
        }
    }
    const int64_t size = x.GetTotalSize();
    if (unknown >= 0 && known != 0 && size % known == 0) {
        out[unknown] = size / known;
        // The other dimensions of an empty array are arbitrary, so checks for overflow.
        if (size == 0) CheckedNBytes("reshape", out, x.GetItemSize());
        return out;
    }
    if (unknown >= 0 || known != size) {
        throw DimensionError{"reshape: cannot reshape an array of shape ", x.shape(), " into ",
                             shape};
    }
    if (size == 0) CheckedNBytes("reshape", out, x.GetItemSize());
    return out;
}

// Returns strides that view `x` as `shape` without copying, if there are any: each group of merged
// old dimensions must be contiguous in itself.
std::optional<Strides> ViewStrides(const Array& x, const Shape& shape) {
    if (x.IsContiguous()) return Strides{shape, x.GetItemSize()};
    Shape old_dims;
    Strides old_strides;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        if (x.shape()[i] == 1) continue;
        old_dims.push_back(x.shape()[i]);
        old_strides.push_back(x.strides()[i]);
    }
    Strides out;
    out.resize(shape.ndim());
    int8_t o = 0;
    int8_t n = 0;
    while (n < shape.ndim()) {
        if (shape[n] == 1) {
            out[n++] = x.GetItemSize();
            continue;
        }
        int8_t o_end = o + 1;
        int8_t n_end = n + 1;
        int64_t o_size = old_dims[o];
        int64_t n_size = shape[n];
        while (o_size != n_size) {
            if (o_size < n_size) {
                o_size *= old_dims[o_end++];
            } else {
                n_size *= shape[n_end++];
            }
        }
        for (int8_t i = o; i + 1 < o_end; ++i) {
            if (old_strides[i] != old_strides[i + 1] * old_dims[i + 1]) return std::nullopt;
        }
        int64_t stride = old_strides[o_end - 1];
        for (int8_t i = n_end - 1; i >= n; --i) {
            out[i] = stride;
            stride *= shape[i];
        }
        o = o_end;
        n = n_end;
    }
    return out;
}

// Returns x with its axes permuted.
Array Permuted(const Array& x, const Axes& perm) {
    Shape shape;
    Strides strides;
    shape.resize(x.ndim());
    strides.resize(x.ndim());
    for (int8_t i = 0; i < x.ndim(); ++i) {
        shape[i] = x.shape()[perm[i]];
        strides[i] = x.strides()[perm[i]];
    }
    return internal::MakeView(x, shape, strides, x.raw_data());
}

Axes Inverse(const Axes& perm) {
    Axes inverse;
    inverse.resize(perm.ndim());
    for (int8_t i = 0; i < perm.ndim(); ++i) inverse[perm[i]] = i;
    return inverse;
}

}  // namespace

Array internal::Permute(const Array& x, const Axes& perm) {
    Array y = Permuted(x, perm);
    if (Record rec{kTranspose, {x}, y}) {
        rec.Grad(0, [inverse = Inverse(perm)](const Array& gy) {
            return internal::Permute(gy, inverse);
        });
    }
    return y;
}

Array Reshape(const Array& x, const Shape& shape) {
    const Shape to = ResolveShape(x, shape);
    Array y;
    if (x.IsContiguous()) {
        x.buffer()->Ref();
        y = Array{internal::ArrayBody::Make(x.buffer(), to, x.dtype(), &x.device())};
        y.body()->data = x.raw_data();
        y.body()->read_only = x.body()->read_only;
    } else {
        const std::optional<Strides> strides = ViewStrides(x, to);
        if (!strides) return Reshape(Copy(x), to);
        y = internal::MakeView(x, to, *strides, x.raw_data());
    }
    if (Record rec{kReshape, {x}, y}) {
        rec.Grad(0, [from = x.shape()](const Array& gy) { return Reshape(gy, from); });
    }
    return y;
}

Array Reshape(const Array& x, const Shape& shape, bool copy) {
    const Array y = Reshape(x, shape);
    if (y.buffer() == x.buffer()) return copy ? Copy(y) : y;
    if (!copy) {
        throw ValueError{
            "reshape: an array of shape ", x.shape(), " and strides ",      x.strides(),
            " has no view of shape ",      y.shape(), ", and copy is False"};
    }
    return y;
}

Array Ravel(const Array& x) { return Reshape(x, {x.GetTotalSize()}); }

Array Flatten(const Array& x) {
    Array y = Ravel(x);
    return y.buffer() == x.buffer() ? Copy(y) : y;
}

namespace {

// Returns whether the first axis is the innermost in memory, and not the last one.
bool IsOnlyFortran(const Array& x) {
    return !x.IsContiguous() && Transpose(internal::Detached(x)).IsContiguous();
}

// Returns the axes by descending strides. An axis without a stride, of length 1 or broadcast, stays
// before the next one.
Axes AxesAsTheyLie(const Array& x) {
    Axes order;
    const auto step = [&x](int8_t i) { return x.shape()[i] == 1 ? 0 : std::abs(x.strides()[i]); };
    for (int8_t i = 0; i < x.ndim(); ++i) {  // insertion sort: axes are few, and mostly sorted
        int8_t place = i;
        for (int8_t k = i; k-- > 0 && step(i) != 0;) {
            if (step(order[k]) == 0) continue;
            if (step(order[k]) >= step(i)) break;
            place = k;
        }
        order.push_back(i);
        std::rotate(order.begin() + place, order.end() - 1, order.end());
    }
    return order;
}

}  // namespace

Array Reshape(const Array& x, const Shape& shape, ElementOrder order) {
    if (order == ElementOrder::kK)
        throw ValueError{"reshape: order is 'K', expected 'C', 'F' or 'A'"};
    if (order == ElementOrder::kC || (order == ElementOrder::kA && !IsOnlyFortran(x))) {
        return Reshape(x, shape);
    }
    Shape reversed = ResolveShape(x, shape);
    std::reverse(reversed.begin(), reversed.end());
    return Transpose(Reshape(Transpose(x), reversed));
}

Array Ravel(const Array& x, ElementOrder order) {
    if (order == ElementOrder::kK) return Ravel(internal::Permute(x, AxesAsTheyLie(x)));
    return Reshape(x, {x.GetTotalSize()}, order);
}

Array Flatten(const Array& x, ElementOrder order) {
    Array y = Ravel(x, order);
    return y.buffer() == x.buffer() ? Copy(y) : y;
}

Array Transpose(const Array& x, const OptionalAxes& axes) {
    const int8_t ndim = x.ndim();
    Axes perm;
    if (!axes) {
        perm.resize(ndim);
        for (int8_t i = 0; i < ndim; ++i) perm[i] = ndim - 1 - i;
        return internal::Permute(x, perm);
    }
    if (axes->ndim() != ndim) {
        throw DimensionError{"transpose: ", int64_t{axes->ndim()}, " axes for ", int64_t{ndim},
                             " dimensions"};
    }
    uint32_t seen = 0;
    for (int8_t a : *axes) {
        perm.push_back(NormalizeAxis("transpose", a, ndim));
        if ((seen >> perm.back() & 1) != 0) {
            throw DimensionError{"transpose: duplicate axis in ", *axes};
        }
        seen |= 1u << perm.back();
    }
    return internal::Permute(x, perm);
}

Array BroadcastTo(const Array& x, const Shape& shape) {
    CheckedNBytes("broadcast_to", shape, x.GetItemSize());
    if (!IsBroadcastable(x.shape(), shape)) {
        throw DimensionError{"broadcast_to: shape ", x.shape(), " does not broadcast to ", shape};
    }
    Array y =
        internal::MakeView(x, shape, BroadcastStrides(x.shape(), x.strides(), shape), x.raw_data());
    // Read-only as in NumPy: a write to one element would change several.
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        y.body()->read_only |= y.strides()[i] == 0 && shape[i] > 1;
    }
    // The engine sums the gradient back.
    if (Record rec{kBroadcastTo, {x}, y}) rec.Grad(0, [](const Array& gy) { return gy; });
    return y;
}

std::vector<Array> BroadcastArrays(const std::vector<Array>& arrays) {
    Shape shape;
    for (const Array& x : arrays) {
        CheckSameDevice("broadcast_arrays", arrays[0].device(), x.device());
        shape = BroadcastShapes("broadcast_arrays", shape, x.shape());
    }
    std::vector<Array> out;
    for (const Array& x : arrays) out.push_back(BroadcastTo(x, shape));
    return out;
}

Array MakeView(const Array& x) { return x.MakeView(); }

Array ViewAs(const Array& x, Dtype dtype) {
    if (dtype == x.dtype()) return MakeView(x);
    if (IsBool(dtype)) throw DtypeError{"view: not all bytes of ", x.dtype(), " are bool"};
    const int64_t from = GetItemSize(x.dtype());
    const int64_t to = GetItemSize(dtype);
    Shape shape = x.shape();
    Strides strides = x.strides();
    if (from != to) {
        if (x.ndim() == 0) {
            throw ValueError{"view: an array of shape () and ", x.dtype(), " has no view of ",
                             dtype, ", which is of another size"};
        }
        int64_t& n = shape[x.ndim() - 1];
        int64_t& stride = strides[x.ndim() - 1];
        if (n != 1 && x.GetTotalSize() != 0 && stride != from) {
            throw ValueError{
                "view: the last axis has stride ", stride,   ", expected ", from, ", for ", dtype,
                " is of another size than ",       x.dtype()};
        }
        if (n * from % to != 0) {
            throw ValueError{"view: the last axis has ", n * from,
                             " bytes, which are no elements of ", dtype};
        }
        n = n * from / to;
        stride = to;
    }
    const int64_t unit = GetItemSize(RealDtype(dtype));
    const auto is_aligned = [unit](int64_t place) { return place % unit == 0; };
    bool fits = is_aligned(static_cast<int64_t>(reinterpret_cast<intptr_t>(x.raw_data())));
    for (int8_t i = 0; i < x.ndim(); ++i) fits &= shape[i] <= 1 || is_aligned(strides[i]);
    if (!fits && x.GetTotalSize() != 0) {
        throw ValueError{"view: the memory is not aligned to elements of ", dtype};
    }
    x.buffer()->Ref();
    Array y = internal::MakeArray(shape, strides, dtype, x.device(), x.buffer(), x.raw_data());
    y.body()->read_only = x.body()->read_only || IsBool(x.dtype());
    return y;
}

}  // namespace chainerx
