#include "chainerx/ops/reduce/covariance.h"

#include <algorithm>

#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

// Reshapes weights to the dimensions of `x`; they have its shape, or that of the axes alone.
Array WeightsOf(const Array& weights, const Array& x, const OptionalAxes& axes,
                const Axes& sorted) {
    if (weights.shape() == x.shape()) return weights;
    const internal::NamedAxes named = internal::NameAxes("average", axes, x);
    if (weights.shape() != named.shape) {
        throw DimensionError{"average: weights.shape is ", weights.shape(),
                             ", expected that of a, ",     x.shape(),
                             ", or that of its axes, ",    named.shape};
    }
    Shape shape;
    for (int8_t i = 0; i < x.ndim(); ++i) {
        const bool is_axis = std::find(sorted.begin(), sorted.end(), i) != sorted.end();
        shape.push_back(is_axis ? x.shape()[i] : 1);
    }
    return Reshape(internal::Permute(weights, named.order), shape);
}

}  // namespace

std::pair<Array, Array> Average(const Array& x, const OptionalAxes& axes, const Array* weights,
                                bool keepdims) {
    const Axes sorted = NormalizeAxes("average", axes, x.ndim());
    if (weights == nullptr) {
        Array y = Mean(x, sorted, keepdims);
        const auto n = static_cast<double>(internal::CountReduced(x.shape(), sorted));
        Array sum = FullLike(y, n);
        return {std::move(y), std::move(sum)};
    }
    const Array w = WeightsOf(*weights, x, axes, sorted);
    const Dtype dtype = FloatResult(PromoteTypes(x.dtype(), w.dtype()));
    const Dtype wide = internal::WideDtype(dtype);
    const Array number = AsType(x, wide, false);
    const Array factor =
        BroadcastTo(AsType(w, IsComplex(w.dtype()) ? wide : RealDtype(wide), false), x.shape());
    const Array sum = Sum(factor, sorted, keepdims);
    return {AsType(Sum(number * factor, sorted, keepdims) / sum, dtype, false),
            AsType(sum, dtype, false)};
}

namespace {

void CheckMatrix(const char* op, const char* name, const Array& x) {
    if (x.ndim() <= 2) return;
    throw DimensionError{
        op, ": ", name, " has ", int64_t{x.ndim()}, " dimensions, expected at most 2"};
}

// Returns variables as rows.
Array Variables(const Array& x, bool rowvar) {
    const Array rows = AtLeast2D(x);
    return rowvar || x.ndim() < 2 ? rows : Transpose(rows);
}

void CheckWeights(const char* op, const char* name, const Array& w, int64_t n) {
    if (w.ndim() != 1 || w.shape()[0] != n) {
        throw DimensionError{op, ": ", name, ".shape is ", w.shape(), ", expected ", Shape{n}};
    }
}

// Returns the divisor of the sum of products: an array if it depends on weights.
Array Divisor(const Array& weight, const Array* aweights, double ddof) {
    const Array sum = Sum(weight);
    if (aweights == nullptr) return sum - ddof;
    return sum - Sum(weight * AsType(*aweights, weight.dtype(), false)) * ddof / sum;
}

struct Covariances {
    Array values;  // in the dtype of the computation
    Dtype dtype;   // of the result
};

Covariances ComputeCovariances(const char* op, const Array& given, const CovarianceOptions& o) {
    CheckMatrix(op, "m", given);
    Array x = Variables(given, o.rowvar);
    if (o.y != nullptr) {
        CheckMatrix(op, "y", *o.y);
        const Array more = Variables(*o.y, o.rowvar);
        if (more.shape()[1] != x.shape()[1]) {
            throw DimensionError{op, ": y has ", more.shape()[1], " observations, expected ",
                                 x.shape()[1]};
        }
        x = Concatenate({x, more}, 0);
    }
    if (o.dtype && !IsDifferentiable(*o.dtype)) {
        throw DtypeError{op, ": dtype is ", *o.dtype, ", expected a float or complex dtype"};
    }
    if (o.dtype && IsComplex(x.dtype()) && !IsComplex(*o.dtype)) {
        throw DtypeError{op, ": dtype is ", *o.dtype, ", expected a complex one for ", x.dtype()};
    }
    const Dtype dtype = o.dtype.value_or(FloatResult(x.dtype()));
    x = AsType(x, internal::WideDtype(dtype), false);
    const Dtype real = RealDtype(x.dtype());
    const int64_t n = x.shape()[1];
    const double ddof = static_cast<double>(o.ddof.value_or(o.bias ? 0 : 1));
    Array weight;
    for (const auto& [name, w] : {std::pair{"fweights", o.fweights}, {"aweights", o.aweights}}) {
        if (w == nullptr) continue;
        CheckWeights(op, name, *w, n);
        const Array factor = AsType(*w, real, false);
        weight = weight.is_null() ? factor : weight * factor;
    }
    if (o.fweights != nullptr) {
        CheckDtype(IsInt(o.fweights->dtype()), op, "fweights", o.fweights->dtype(), "an integer");
    }
    const Array centered =
        x - (weight.is_null() ? Mean(x, Axes{1}, true) : Average(x, Axes{1}, &weight, true).first);
    const Array other = Conj(weight.is_null() ? centered : centered * weight);
    const Array products = Matmul(centered, Transpose(other));
    const Array y = weight.is_null() ? products / std::max(static_cast<double>(n) - ddof, 0.0)
                                     : products / Maximum(Divisor(weight, o.aweights, ddof), 0);
    return {y, dtype};
}

}  // namespace

Array Cov(const Array& x, const CovarianceOptions& options) {
    const auto [values, dtype] = ComputeCovariances("cov", x, options);
    return Squeeze(AsType(values, dtype, false));
}

Array Corrcoef(const Array& x, const CovarianceOptions& options) {
    const auto [c, dtype] = ComputeCovariances("corrcoef", x, options);
    const Array deviation = Sqrt(Real(Diagonal(c)));
    const auto n = deviation.shape()[0];
    const Array y = c / Reshape(deviation, {n, 1}) / Reshape(deviation, {1, n});
    // Rounding may pass 1.
    return Squeeze(AsType(IsComplex(y.dtype()) ? y : Clamp(y, -1, 1), dtype, false));
}

}  // namespace chainerx
