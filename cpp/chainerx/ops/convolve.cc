// Convolution of vectors.
#include <utility>

#include "chainerx/core/error.h"
#include "chainerx/ops/complex_parts.h"
#include "chainerx/ops/conv.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/linalg.h"
#include "chainerx/ops/padding.h"
#include "chainerx/ops/series.h"
#include "chainerx/ops/view.h"

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

// y[k] = sum over j of x[k - before + j] w[j], where w is the shorter one.
Array Slide(const Array& x, const Array& w, OverlapMode mode) {
    const int64_t m = w.shape()[0];
    const int64_t before = mode == OverlapMode::kFull   ? m - 1
                           : mode == OverlapMode::kSame ? m / 2
                                                        : 0;
    const int64_t after = mode == OverlapMode::kFull   ? m - 1
                          : mode == OverlapMode::kSame ? m - 1 - before
                                                       : 0;
    const Dtype dtype = PromoteTypes(x.dtype(), w.dtype());
    const Array a = AsType(x, dtype, false);
    const Array b = AsType(w, dtype, false);
    if (IsFloat(dtype)) {
        const Array y = Conv(ExpandDims(a, Axes{0, 1}), ExpandDims(b, Axes{0, 1}), std::nullopt,
                             PerAxis{1}, AxisPads{PerAxis{before}, PerAxis{after}});
        return Reshape(y, {y.shape()[2]});
    }
    // The windows overlap in memory; their product is an ordinary one.
    const Array padded = AsContiguous(Pad(a, {{before, after}}));
    const int64_t n = padded.shape()[0] - m + 1;
    return Matmul(AsStrided(padded, {n, m}, {1, 1}), b);
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
