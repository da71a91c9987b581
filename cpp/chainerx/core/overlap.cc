#include "chainerx/core/overlap.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace chainerx::internal {

Extent ExtentOf(char* data, const Shape& shape, const Strides& strides, int64_t item_size) {
    int64_t lo = 0;
    int64_t hi = item_size;
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        if (shape[i] == 0) return {data, data};
        const int64_t span = (shape[i] - 1) * strides[i];
        (span < 0 ? lo : hi) += span;
    }
    return {data + lo, data + hi};
}

bool MayShareMemorySlow(const Array& a, const Array& b) {
    if (a.GetTotalSize() == 0 || b.GetTotalSize() == 0) return false;
    const Extent ea = ExtentOf(a.raw_data(), a.shape(), a.strides(), a.GetItemSize());
    const Extent eb = ExtentOf(b.raw_data(), b.shape(), b.strides(), b.GetItemSize());
    if (ea.end <= eb.begin || eb.end <= ea.begin) return false;
    // If all elements lie at multiples of `step` from the first, compares the offsets of a and b:
    // columns of one matrix interleave without overlap.
    int64_t step = 0;
    for (const Array* x : {&a, &b}) {
        for (int8_t i = 0; i < x->ndim(); ++i) {
            if (x->shape()[i] > 1) step = std::gcd(step, x->strides()[i]);
        }
    }
    if (step == 0) return true;
    int64_t distance = (b.raw_data() - a.raw_data()) % step;
    if (distance < 0) distance += step;
    return distance < a.GetItemSize() || distance + b.GetItemSize() > step;
}

namespace {

// An axis with more than one element; the sign of its stride does not matter here.
struct Axis {
    int64_t stride;
    int64_t reach;  // the largest difference of two indices
};

// Searches for indices of two elements whose addresses differ by less than the size of an element.
class Search {
 public:
    Search(const Axis* axes, int n, int64_t item_size) : axes_{axes}, item_size_{item_size} {
        span_[0] = 0;
        for (int i = 0; i < n; ++i) span_[i + 1] = span_[i] + axes[i].reach * axes[i].stride;
    }

    // `distance`: the byte distance by which the axes from n on differ; `same`: all their indices
    // are equal. Axes are taken in descending order of strides.
    bool Find(int n, int64_t distance, bool same) {
        if (n == 0) return !same && std::abs(distance) < item_size_;
        if (++steps_ > kMaxSteps) return true;
        const Axis& axis = axes_[n - 1];
        // The distance that the shorter strides can compensate.
        const int64_t room = span_[n - 1] + item_size_ - 1;
        const int64_t first = std::max(-axis.reach, FloorDiv(-room - distance, axis.stride));
        const int64_t last = std::min(axis.reach, FloorDiv(room - distance, axis.stride));
        // The other sign would give the same pairs again.
        for (int64_t d = same ? 0 : first; d <= last; ++d) {
            if (Find(n - 1, distance + d * axis.stride, same && d == 0)) return true;
        }
        return false;
    }

 private:
    static constexpr int64_t kMaxSteps = 10'000;

    static int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

    const Axis* axes_;
    int64_t item_size_;
    int64_t span_[kMaxNdim + 1];  // bytes spanned by the first axes
    int64_t steps_{0};
};

}  // namespace

bool OverlapsItself(const Shape& shape, const Strides& strides, int64_t item_size) {
    Axis axes[kMaxNdim];  // ascending by stride
    int n = 0;
    for (int8_t i = 0; i < shape.ndim(); ++i) {
        if (shape[i] == 0) return false;
        if (shape[i] == 1) continue;
        const Axis axis{std::abs(strides[i]), shape[i] - 1};
        int at = n++;
        for (; at > 0 && axes[at - 1].stride > axis.stride; --at) axes[at] = axes[at - 1];
        axes[at] = axis;
    }
    if (n > 0 && axes[0].stride == 0) return true;
    // In nearly all layouts each axis steps over all that the shorter strides reach.
    int64_t extent = item_size;
    bool nested = true;
    for (int i = 0; i < n; ++i) {
        nested &= axes[i].stride >= extent;
        extent += axes[i].reach * axes[i].stride;
    }
    return !nested && Search{axes, n, item_size}.Find(n, 0, true);
}

}  // namespace chainerx::internal
