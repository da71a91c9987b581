#include "chainerx/ops/elementwise/layout.h"

#include <cstdlib>

namespace chainerx::internal {
namespace {

// Strides of the operands along the axes of the result; 0 if an operand is broadcast there.
struct OperandStrides {
    int64_t n{0};
    Strides strides[4];

    OperandStrides(const Shape& shape, std::span<const Array* const> operands) {
        for (const Array* x : operands) {
            if (x == nullptr) continue;
            Strides& s = strides[n++];
            s.resize(shape.ndim());
            const int64_t first = shape.ndim() - x->ndim();
            for (int8_t i = 0; i < x->ndim(); ++i) {
                s[first + i] = x->shape()[i] == 1 ? 0 : std::abs(x->strides()[i]);
            }
        }
    }

    enum class Place { kInside, kOutside, kEither };

    // Returns the place of axis a relative to axis b, which comes after it in C order.
    Place Compare(int8_t a, int8_t b) const {
        bool inside = false;
        for (int64_t k = 0; k < n; ++k) {
            const int64_t sa = strides[k][a];
            const int64_t sb = strides[k][b];
            if (sa == 0 || sb == 0) continue;
            if (sa >= sb) return Place::kOutside;
            inside = true;
        }
        return inside ? Place::kInside : Place::kEither;
    }
};

}  // namespace

Array EmptyInOrderOf(const Shape& shape, Dtype dtype, Device& device,
                     std::span<const Array* const> operands) {
    const int64_t total = shape.GetTotalSize();
    if (total == 0) return EmptyUnchecked(shape, dtype, device);
    const int64_t nbytes = NBytesOf(shape, dtype);
    const OperandStrides given{shape, operands};
    Axes order;  // innermost first
    for (int8_t axis = shape.ndim() - 1; axis >= 0; --axis) {
        // Searches from the outside; skips axes that have no preference.
        int64_t place = order.size();
        for (int64_t i = order.size() - 1; i >= 0; --i) {
            const auto seen = given.Compare(axis, order[i]);
            if (seen == OperandStrides::Place::kOutside) break;
            if (seen == OperandStrides::Place::kInside) place = i;
        }
        order.insert(place, axis);
    }
    Strides strides;
    strides.resize(shape.ndim());
    int64_t step = GetItemSize(dtype);
    for (const int8_t axis : order) {
        strides[axis] = step;
        step *= shape[axis];
    }
    Buffer* buffer = device.Allocate(nbytes);
    return MakeArray(shape, strides, dtype, device, buffer, static_cast<char*>(buffer->data()));
}

}  // namespace chainerx::internal
