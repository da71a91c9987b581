#include "chainerx/core/dims.h"

#include "chainerx/core/axis_error.h"

namespace chainerx {

namespace internal {
namespace {

template <typename T>
std::string ToText(const T* first, const T* last) {
    std::string s = "(";
    for (const T* p = first; p != last; ++p) {
        if (p != first) s += ", ";
        s += std::to_string(*p);
    }
    return s + (last - first == 1 ? ",)" : ")");
}

}  // namespace

void ThrowTooManyDims(int64_t ndim) {
    throw DimensionError{"too many dimensions: ", ndim, ", the maximum is ", int64_t{kMaxNdim}};
}

std::string TupleToString(const int64_t* first, const int64_t* last) { return ToText(first, last); }
std::string TupleToString(const int8_t* first, const int8_t* last) { return ToText(first, last); }

}  // namespace internal

int64_t CheckedNBytes(const char* op, const Shape& shape, int64_t item_size) {
    int64_t n = item_size;
    bool empty = false;
    bool overflow = false;
    for (int64_t d : shape) {
        if (d < 0) throw DimensionError{op, ": negative dimension in shape ", shape};
        if (d == 0) empty = true;
        overflow |= __builtin_mul_overflow(n, std::max<int64_t>(d, 1), &n);
    }
    if (overflow) throw DimensionError{op, ": shape ", shape, " is too large to address"};
    return empty ? 0 : n;
}

bool IsContiguous(const Shape& shape, const Strides& strides, int64_t item_size) {
    int64_t expected = item_size;
    bool contiguous = true;
    for (int8_t i = shape.ndim() - 1; i >= 0; --i) {
        if (shape[i] == 0) return true;
        if (shape[i] != 1 && strides[i] != expected) contiguous = false;
        expected *= shape[i];
    }
    return contiguous;
}

int8_t NormalizeAxis(const char* op, int64_t axis, int8_t ndim) {
    if (axis < -ndim || axis >= ndim) {
        throw AxisError{op, ": axis ", axis, " is out of range for ", int64_t{ndim}, " dimensions"};
    }
    return static_cast<int8_t>(axis < 0 ? axis + ndim : axis);
}

Axes NormalizeAxes(const char* op, const OptionalAxes& axes, int8_t ndim) {
    Axes out;
    if (!axes) {
        for (int8_t i = 0; i < ndim; ++i) out.push_back(i);
        return out;
    }
    for (int8_t a : *axes) out.push_back(NormalizeAxis(op, a, ndim));
    std::sort(out.begin(), out.end());
    if (std::adjacent_find(out.begin(), out.end()) != out.end()) {
        throw DimensionError{op, ": duplicate axis in ", *axes};
    }
    return out;
}

Shape BroadcastShapes(const char* op, const Shape& x1, const Shape& x2) {
    const Shape& longer = x1.ndim() >= x2.ndim() ? x1 : x2;
    const Shape& shorter = x1.ndim() >= x2.ndim() ? x2 : x1;
    Shape out = longer;
    const int8_t offset = longer.ndim() - shorter.ndim();
    for (int8_t i = 0; i < shorter.ndim(); ++i) {
        int64_t& d = out[i + offset];
        if (d == shorter[i] || shorter[i] == 1) continue;
        if (d != 1) {
            throw DimensionError{op, ": shapes ", x1, " and ", x2, " do not broadcast"};
        }
        d = shorter[i];
    }
    return out;
}

Strides BroadcastStrides(const Shape& shape, const Strides& strides, const Shape& out) {
    Strides s;
    s.resize(out.ndim(), 0);
    const int8_t offset = out.ndim() - shape.ndim();
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        s[i + offset] = shape[i] == 1 && out[i + offset] != 1 ? 0 : strides[i];
    }
    return s;
}

Shape ReduceShape(const Shape& shape, const Axes& axes, bool keepdims) {
    Shape out;
    int64_t k = 0;
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        if (k < axes.size() && axes[k] == i) {
            ++k;
            if (keepdims) out.push_back(1);
        } else {
            out.push_back(shape[i]);
        }
    }
    return out;
}

bool IsBroadcastable(const Shape& from, const Shape& to) {
    if (from.ndim() > to.ndim()) return false;
    const int8_t offset = to.ndim() - from.ndim();
    for (int8_t i = 0; i < from.ndim(); ++i) {
        if (from[i] != 1 && from[i] != to[i + offset]) return false;
    }
    return true;
}

}  // namespace chainerx
