// Local response normalization.
#include <algorithm>

#include "chainerx/kernels/elementwise/arithmetic.h"
#include "chainerx/ops/norm/normalization.h"
#include "chainerx/ops/norm/normalization_check.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

constexpr OpInfo kLocalResponse{"local_response_normalization"};
constexpr OpInfo kWindowSum{"window_sum"};

// Returns channels [begin, end) of x, a view outside all graphs.
Array Channels(const Array& x, int64_t begin, int64_t end) {
    Shape shape = x.shape();
    shape[1] = end - begin;
    return internal::MakeView(x, shape, x.strides(), x.raw_data() + begin * x.strides()[1]);
}

// Sums each channel and `reach` channels on both sides. It is its own transpose.
Array WindowSum(const Array& x, int64_t reach) {
    const Array y = Copy(internal::Detached(x));
    const int64_t channels = x.shape()[1];
    for (int64_t d = 1; d <= std::min(reach, channels - 1); ++d) {
        for (const int64_t shift : {int64_t{0}, d}) {
            const Array to = Channels(y, shift, channels - d + shift);
            const Array from = Channels(x, d - shift, channels - shift);
            CallOn<kernels::Add>(x.device(), Operand{to}, Operand{from}, to);
        }
    }
    if (Record rec{kWindowSum, {x}, y}) {
        rec.Grad(0, [reach](const Array& gy) { return WindowSum(gy, reach); });
    }
    return y;
}

struct Scaled {
    Array x;
    Array scale;  // k + alpha * sum of x^2
    Array power;  // scale^-beta

    Scaled(const Array& given, int64_t reach, double k, double alpha, double beta)
        : x{AsType(given, internal::WideDtype(given.dtype()), false)},
          scale{WindowSum(Square(x), reach) * alpha + k},
          power{Power(scale, Scalar{-beta})} {}
};

}  // namespace

Array LocalResponseNormalization(const Array& x, int64_t n, double k, double alpha, double beta) {
    constexpr const char* kOp = kLocalResponse.name;
    internal::CheckNormalized(kOp, "x", x, x.device());
    if (x.ndim() < 2) {
        throw DimensionError{kOp, ": x.ndim is ", static_cast<int>(x.ndim()),
                             ", expected at least 2"};
    }
    if (n < 0) throw ValueError{kOp, ": n is ", n, ", expected at least 0"};
    const int64_t reach = n / 2;
    const Scaled forward{internal::Detached(x), reach, k, alpha, beta};
    const Array y = AsType(forward.x * forward.power, x.dtype(), false);
    if (Record rec{kLocalResponse, {x}, y}) {
        rec.Grad(0, [x = rec.Save(x), reach, k, alpha, beta](const Array& gy) {
            const Scaled s{x(), reach, k, alpha, beta};
            const Array g = AsType(gy, s.x.dtype(), false) * s.power;
            return g - s.x * (WindowSum(g * s.x / s.scale, reach) * (2 * alpha * beta));
        });
    }
    return y;
}

}  // namespace chainerx
