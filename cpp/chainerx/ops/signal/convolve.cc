// Convolution of vectors.
#include <utility>

#include "chainerx/kernels/linalg/linalg.h"
#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"
#include "chainerx/ops/shape/padding.h"
#include "chainerx/ops/signal/series.h"

namespace chainerx {
namespace {

void CheckVectors(const char* op, const Array& a, const Array& v) {
    CheckSameDevice(op, a.device(), v.device());
    for (const auto& [name, x] : {std::pair<const char*, const Array&>{"a", a}, {"v", v}}) {
        if (x.ndim() != 1) {
            throw DimensionError{
                op, ": ", name, " has shape ", x.shape(), ", expected one dimension"};
        }
        if (x.shape()[0] == 0) throw ValueError{op, ": ", name, " is empty"};
        if (IsBool(x.dtype())) throw DtypeError{op, ": ", name, " must be of numbers, got bool"};
    }
}

constexpr OpInfo kSlide{"sliding_product", &kernels::SlidingProduct::kInfo};

// y[k] is the sum of x[k - before + j] w[j] over all j for which x has that element.
Array SlideReal(const Array& x, const Array& w, int64_t before, int64_t count) {
    Array y = EmptyUnchecked(Shape{count}, x.dtype(), x.device());
    CallOn<kernels::SlidingProduct>(x.device(), AsContiguous(internal::Detached(x)),
                                    AsContiguous(internal::Detached(w)), before, y);
    if (Record rec{kSlide, {x, w}, y}) {
        rec.Grad(0, [w = rec.Save(w), n = x.shape()[0], before](const Array& gy) {
            return SlideReal(gy, Flip(w()), w().shape()[0] - 1 - before, n);
        });
        rec.Grad(1, [x = rec.Save(x), m = w.shape()[0], before](const Array& gy) {
            return SlideReal(x(), gy, before, m);
        });
    }
    return y;
}

Array SlideComplex(const Array& x, const Array& w, int64_t before, int64_t count) {
    const auto slide = [=](const Array& a, const Array& b) {
        return SlideReal(a, b, before, count);
    };
    const Array re = Real(x), im = Imag(x);
    const Array w_re = Real(w), w_im = Imag(w);
    return MakeComplex(slide(re, w_re) - slide(im, w_im), slide(re, w_im) + slide(im, w_re));
}

// The same for integers: overlapping windows make it a matrix product.
Array SlideIntegers(const Array& x, const Array& w, int64_t before, int64_t count) {
    const int64_t m = w.shape()[0];
    const int64_t after = count + m - 1 - before - x.shape()[0];
    const Array padded = AsContiguous(Pad(x, {{before, after}}));
    return Matmul(AsStrided(padded, {count, m}, {1, 1}), w);
}

// Slides the shorter vector w along x.
Array Slide(const Array& x, const Array& w, OverlapMode mode) {
    const int64_t m = w.shape()[0];
    const int64_t before = mode == OverlapMode::kFull   ? m - 1
                           : mode == OverlapMode::kSame ? m / 2
                                                        : 0;
    const int64_t n = x.shape()[0];
    const int64_t count = mode == OverlapMode::kFull   ? n + m - 1
                          : mode == OverlapMode::kSame ? n
                                                       : n - m + 1;
    const Dtype dtype = PromoteTypes(x.dtype(), w.dtype());
    const Dtype wide = internal::WideDtype(dtype);
    const Array a = AsType(x, wide, false);
    const Array b = AsType(w, wide, false);
    if (IsFloat(dtype)) return AsType(SlideReal(a, b, before, count), dtype, false);
    return IsComplex(dtype) ? SlideComplex(a, b, before, count)
                            : SlideIntegers(a, b, before, count);
}

}  // namespace

Array Convolve(const Array& a, const Array& v, OverlapMode mode) {
    CheckVectors("convolve", a, v);
    const bool swap = v.shape()[0] > a.shape()[0];
    return Slide(swap ? v : a, Flip(swap ? a : v), mode);
}

Array Correlate(const Array& a, const Array& v, OverlapMode mode) {
    CheckVectors("correlate", a, v);
    const Array w = IsComplex(v.dtype()) ? Conj(v) : v;
    if (w.shape()[0] <= a.shape()[0]) return Slide(a, w, mode);
    return Copy(Flip(Slide(w, a, mode)));
}

}  // namespace chainerx
