// Parameters of convolution and pooling per spatial axis.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "chainerx/core/dims.h"
#include "chainerx/core/macro.h"

namespace chainerx {

// One number for each spatial axis, or one for all.
class PerAxis {
 public:
    PerAxis(int64_t all) : values_{all}, for_all_{true} {}  // NOLINT: a stride of 2
    PerAxis(std::initializer_list<int64_t> values) : values_(values) {}
    PerAxis(const Shape& values) : values_{values} {}  // NOLINT: one per axis

    int64_t operator[](int8_t axis) const { return values_[for_all_ ? 0 : axis]; }

    // DimensionError unless there are `axes` numbers from `least` to 2^40.
    void Check(const char* op, const char* name, int8_t axes, int64_t least) const {
        bool good = for_all_ || values_.ndim() == axes;
        for (const int64_t v : values_) good = good && v >= least && v <= kMax;
        if (!good) [[unlikely]]
            Throw(op, name, axes, least);
    }

 private:
    static constexpr int64_t kMax = int64_t{1} << 40;  // so that sums and products of two fit

    [[noreturn]] CX_API CX_COLD void Throw(const char* op, const char* name, int8_t axes,
                                           int64_t least) const;

    StackVector<int64_t> values_;
    bool for_all_{false};
};

// Padding before and after each spatial axis.
struct AxisPads {
    PerAxis before;
    PerAxis after;

    AxisPads(int64_t all) : before{PerAxis(all)}, after{PerAxis(all)} {}  // NOLINT: a pad of 1
    AxisPads(std::initializer_list<int64_t> both) : before(both), after(both) {}
    AxisPads(const PerAxis& both) : before{both}, after{both} {}  // NOLINT: the same
    AxisPads(const PerAxis& before, const PerAxis& after) : before{before}, after{after} {}
};

}  // namespace chainerx
