// Normalization of rows: layer, group and instance normalization.
#include "chainerx/kernels/norm/normalization.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/norm/normalization.h"
#include "chainerx/ops/norm/normalization_check.h"
#include "chainerx/ops/norm/normalization_plan.h"
#include "chainerx/ops/norm/normalization_terms.h"
#include "chainerx/ops/norm/permuted_layout.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using internal::Arrangement;
using internal::Detached;
using internal::NormalizationPlan;
using internal::ToVector;

constexpr OpInfo kLayerNorm{"layer_norm", &kernels::RowNorm::kInfo};
constexpr OpInfo kRmsNorm{"rms_norm", &kernels::RowNorm::kInfo};
constexpr OpInfo kGroupNorm{"group_norm", &kernels::RowNorm::kInfo};
constexpr OpInfo kInstanceNorm{"instance_norm", &kernels::RowNorm::kInfo};

// Unless `keeps_statistics`, backward recomputes them.
Normalized Normalize(const OpInfo& op, bool keeps_statistics, const Arrangement& arrangement,
                     bool centered, double eps, const Array& x, const Array& gamma,
                     const Array& beta) {
    const NormalizationPlan plan = internal::PlanByRow(arrangement, centered, eps);
    Device& device = x.device();
    const Dtype wide = internal::WideDtype(x.dtype());
    const Shape& shape = arrangement.shape;
    const Shape rows{shape[0] * shape[1]};
    Array y;
    Array mean;
    Array inv_std;
    const bool is_empty = x.GetTotalSize() == 0;
    if (!is_empty && !HasKernel<kernels::RowNorm>(device)) {
        const auto all =
            ComposedNormalization(plan.terms, arrangement.View(Detached(x)), gamma, beta);
        y = arrangement.Undo(AsType(all.y, x.dtype(), false));
        mean = Reshape(all.mean, rows);
        inv_std = Reshape(all.inv_std, rows);
    } else {
        const Array out = EmptyUnchecked(shape, x.dtype(), device);
        mean = EmptyUnchecked(rows, wide, device);
        inv_std = EmptyUnchecked(rows, wide, device);
        if (!is_empty) {
            CallOn<kernels::RowNorm>(device, arrangement.Contiguous(x), ToVector(gamma, wide),
                                     ToVector(beta, wide), centered, eps, out, mean, inv_std);
        }
        y = arrangement.Undo(out);
    }
    if (keeps_statistics) {
        internal::RecordNormalization(op, plan, x, gamma, beta, y, mean, inv_std);
    } else {
        const Array none = EmptyUnchecked(Shape{0}, wide, device);
        internal::RecordNormalization(op, plan, x, gamma, beta, y, none, none);
    }
    return {y, mean, inv_std};
}

// Returns the axes of one row.
Axes RowAxes(const char* op, const Array& x, const OptionalAxes& axis, int8_t fallback) {
    if (axis) return NormalizeAxes(op, axis, x.ndim());
    if (fallback > x.ndim()) {
        throw DimensionError{op, ": gamma.ndim is ", static_cast<int>(fallback), ", but x.ndim is ",
                             static_cast<int>(x.ndim())};
    }
    Axes axes;
    for (int8_t a = x.ndim() - fallback; a < x.ndim(); ++a) axes.push_back(a);
    return axes;
}

Shape ShapeAlong(const Array& x, const Axes& axes) {
    Shape shape;
    for (int8_t a : axes) shape.push_back(x.shape()[a]);
    return shape;
}

void CheckParam(const char* op, const char* name, const Array& param, const Array& x,
                const Shape& expected) {
    internal::CheckNormalized(op, name, param, x.device());
    if (param.shape() == expected) return;
    throw DimensionError{op,           ": ",           name,
                         ".shape is ", param.shape(),  ", expected ",
                         expected,     " by x.shape ", x.shape()};
}

Array FilledParam(const Array& x, const Shape& shape, double value) {
    return Full(shape, Scalar{value}, internal::WideDtype(x.dtype()), x.device());
}

void CheckChannels(const char* op, const Array& x) {
    internal::CheckNormalized(op, "x", x, x.device());
    if (x.ndim() < 2) {
        throw DimensionError{op, ": x.ndim is ", static_cast<int>(x.ndim()),
                             ", expected at least 2"};
    }
}

}  // namespace

Array LayerNorm(const Array& x, const Array& gamma, const Array& beta, double eps,
                const OptionalAxes& axis, bool keeps_statistics) {
    constexpr const char* kOp = kLayerNorm.name;
    internal::CheckNormalized(kOp, "x", x, x.device());
    internal::CheckEps(kOp, eps);
    const Axes axes = RowAxes(kOp, x, axis, gamma.ndim());
    const Shape params = ShapeAlong(x, axes);
    CheckParam(kOp, "gamma", gamma, x, params);
    CheckParam(kOp, "beta", beta, x, params);
    return Normalize(kLayerNorm, keeps_statistics, internal::ByRow(x, axes), true, eps, x, gamma,
                     beta)
        .y;
}

Array RmsNorm(const Array& x, const std::optional<Array>& gamma, double eps,
              const OptionalAxes& axis) {
    constexpr const char* kOp = kRmsNorm.name;
    internal::CheckNormalized(kOp, "x", x, x.device());
    internal::CheckEps(kOp, eps);
    if (!gamma && !axis && x.ndim() == 0) {
        throw DimensionError{kOp, ": x.ndim is 0, expected at least 1"};
    }
    const Axes axes = RowAxes(kOp, x, axis, gamma ? gamma->ndim() : 1);
    const Shape params = ShapeAlong(x, axes);
    if (gamma) CheckParam(kOp, "gamma", *gamma, x, params);
    return Normalize(kRmsNorm, true, internal::ByRow(x, axes), false, eps, x,
                     gamma ? *gamma : FilledParam(x, params, 1), FilledParam(x, params, 0))
        .y;
}

Array GroupNorm(const Array& x, int64_t groups, const Array& gamma, const Array& beta, double eps) {
    return GroupNormWithStatistics(x, groups, gamma, beta, eps).y;
}

Normalized GroupNormWithStatistics(const Array& x, int64_t groups, const Array& gamma,
                                   const Array& beta, double eps) {
    constexpr const char* kOp = kGroupNorm.name;
    CheckChannels(kOp, x);
    internal::CheckEps(kOp, eps);
    const int64_t channels = x.shape()[1];
    if (groups < 1 || channels % groups != 0) {
        throw ValueError{kOp, ": groups is ", groups, ", expected a divisor of x.shape[1], ",
                         channels};
    }
    CheckParam(kOp, "gamma", gamma, x, Shape{channels});
    CheckParam(kOp, "beta", beta, x, Shape{channels});
    return Normalize(kGroupNorm, true, internal::ByGroup(x, groups), true, eps, x, gamma, beta);
}

Array InstanceNorm(const Array& x, const std::optional<Array>& gamma,
                   const std::optional<Array>& beta, double eps) {
    constexpr const char* kOp = kInstanceNorm.name;
    CheckChannels(kOp, x);
    internal::CheckEps(kOp, eps);
    const Shape params{x.shape()[1]};
    if (gamma) CheckParam(kOp, "gamma", *gamma, x, params);
    if (beta) CheckParam(kOp, "beta", *beta, x, params);
    // Without channels there would be no groups to divide into.
    return Normalize(kInstanceNorm, true, internal::ByGroup(x, std::max<int64_t>(params[0], 1)),
                     true, eps, x, gamma ? *gamma : FilledParam(x, params, 1),
                     beta ? *beta : FilledParam(x, params, 0))
        .y;
}

}  // namespace chainerx
