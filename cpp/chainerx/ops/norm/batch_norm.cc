// Batch normalization.
#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/overlap.h"
#include "chainerx/kernels/norm/normalization.h"
#include "chainerx/kernels/strided/memory.h"
#include "chainerx/ops/elementwise/layout.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/norm/normalization.h"
#include "chainerx/ops/norm/normalization_check.h"
#include "chainerx/ops/norm/normalization_plan.h"
#include "chainerx/ops/norm/normalization_terms.h"
#include "chainerx/ops/norm/permuted_layout.h"
#include "chainerx/ops/random/random_generator.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using internal::Arrangement;
using internal::Detached;
using internal::NormalizationPlan;
using internal::ToVector;

constexpr OpInfo kBatchNorm{"batch_norm", &kernels::BatchNorm::kInfo};
constexpr OpInfo kFixedBatchNorm{"fixed_batch_norm", &kernels::FixedBatchNorm::kInfo};

Array NoArray(Dtype dtype, Device& device) { return EmptyUnchecked(Shape{0}, dtype, device); }

// ---- running statistics ------------------------------------------------------------------------

// An array of running statistics that a kernel updates: as a vector, and in memory that the kernel
// does not read otherwise.
class Running {
 public:
    Running(const char* name, const std::optional<Array>& array, const Array& x,
            const Axes& reduced)
        : name_{name} {
        if (!array) return;
        array_ = *array;
        internal::CheckNormalized(kBatchNorm.name, name, array_, x.device());
        internal::CheckParamShape(kBatchNorm.name, name, array_, x.shape(), reduced);
        internal::CheckInPlaceOutput(kBatchNorm.name, array_);
        // When a checkpoint calls the function again, the first call has updated it already.
        if (!random::DrawScope::Moves(array_)) array_ = Array{};
    }

    bool is_null() const { return array_.is_null(); }
    bool Overlaps(const Array& x) const {
        return !is_null() && internal::MayShareMemory(array_, x);
    }
    void CheckApart(const Running& other) const {
        if (!is_null() && other.Overlaps(array_)) {
            throw ValueError{kBatchNorm.name, ": ", name_, " shares memory with ", other.name_};
        }
    }

    // Must be called after all checks.
    void SetInputs(const Array& x, const Array& gamma, const Array& beta) {
        is_read_ = Overlaps(x) || Overlaps(gamma) || Overlaps(beta);
    }
    // Provides the vector for the kernel to update; a copy if the kernel reads the same memory
    // otherwise.
    void Begin() {
        if (is_null()) return;
        if (!is_read_ && array_.ndim() == 1) {
            vector_ = Detached(array_);
        } else if (!is_read_ && array_.IsContiguous()) {
            vector_ = Reshape(Detached(array_), Shape{array_.GetTotalSize()});
        } else {
            copy_ = Copy(Detached(array_));
            vector_ = Reshape(copy_, Shape{array_.GetTotalSize()});
        }
    }
    // Computes the update without a kernel.
    void Compute(double decay, const Array& statistic) {
        if (is_null()) return;
        const Array old = AsType(Detached(array_), statistic.dtype(), false);
        copy_ = old * decay + Reshape(statistic, array_.shape()) * (1 - decay);
    }
    Array vector(Dtype dtype, Device& device) const {
        return is_null() ? NoArray(dtype, device) : vector_;
    }
    void MarkWritten(const Array& x, const Array& gamma) const {
        if (is_null()) return;
        array_.buffer()->MarkWritten();
        if (!is_read_) return;
        // Each array over memory of NumPy has a buffer of its own.
        if (Overlaps(x)) x.buffer()->MarkWritten();
        if (Overlaps(gamma)) gamma.buffer()->MarkWritten();
    }
    void End() const {
        if (!copy_.is_null()) CallOn<kernels::AsType>(array_.device(), copy_, Detached(array_));
    }

 private:
    const char* name_;
    Array array_;
    Array vector_;
    Array copy_;  // holds the vector if the kernel can't write to the array itself
    bool is_read_{false};
};

// Statistics that a gradient saves. They usually are running statistics, which a later training
// batch updates in place before backward runs; so they are copied, unless they are in a graph and
// can't be written.
Array Kept(const Array& statistic) {
    return statistic.IsBackpropRequired(AnyGraph{}) ? statistic : Copy(Detached(statistic));
}

Array InOrderOf(const Array& x, const Array& y) {
    const Array out = internal::EmptyResult(x, x.dtype());
    CallOn<kernels::AsType>(x.device(), y, out);
    return out;
}

// Calls the kernel that updates both, and copies back those that it could not write in place.
void Update(const Running& running_mean, const Running& running_var, const Array& x,
            const Array& gamma, const auto& kernel) {
    running_mean.MarkWritten(x, gamma);
    running_var.MarkWritten(x, gamma);
    kernel();
    const internal::NoInterruptScope both;
    running_mean.End();
    running_var.End();
}

}  // namespace

Normalized BatchNormWithStatistics(const Array& x, const Array& gamma, const Array& beta,
                                   const std::optional<Array>& running_mean,
                                   const std::optional<Array>& running_var, double eps,
                                   double decay, const OptionalAxes& axis) {
    constexpr const char* kOp = kBatchNorm.name;
    internal::CheckNormalized(kOp, "x", x, x.device());
    const Axes reduced = NormalizeAxes(kOp, axis.value_or(Axes{0}), x.ndim());
    internal::CheckEps(kOp, eps);
    for (const auto& [name, param] : {std::pair{"gamma", &gamma}, std::pair{"beta", &beta}}) {
        internal::CheckNormalized(kOp, name, *param, x.device());
        internal::CheckParamShape(kOp, name, *param, x.shape(), reduced);
    }
    Running own_mean{"running_mean", running_mean, x, reduced};
    Running own_var{"running_var", running_var, x, reduced};
    own_mean.CheckApart(own_var);

    const NormalizationPlan plan = internal::PlanByChannel(x, reduced, eps);
    const Arrangement& arrangement = plan.arrangement;
    Device& device = x.device();
    const Dtype wide = internal::WideDtype(x.dtype());
    const Shape channels{plan.n_params()};  // statistics are vectors
    // Records before anything is written: all that may fail comes first, and backward detects
    // running statistics that share memory with the operands that it saves.
    const auto record = [&](const Array& y, const Array& mean, const Array& inv_std) {
        internal::RecordNormalization(kBatchNorm, plan, x, gamma, beta, y, mean, inv_std);
        const Shape shape = ReduceShape(x.shape(), reduced, false);
        return Normalized{y, Reshape(mean, shape), Reshape(inv_std, shape)};
    };
    if (x.GetTotalSize() == 0) {
        const Scalar nan{std::numeric_limits<double>::quiet_NaN()};
        return record(EmptyUnchecked(x.shape(), x.dtype(), device),
                      Full(channels, nan, wide, device), Full(channels, nan, wide, device));
    }
    own_mean.SetInputs(x, gamma, beta);
    own_var.SetInputs(x, gamma, beta);
    if (!HasKernel<kernels::BatchNorm>(device)) {
        const auto all =
            ComposedNormalization(plan.terms, arrangement.View(Detached(x)), gamma, beta);
        const auto n = static_cast<double>(plan.count());
        own_mean.Compute(decay, all.mean);
        own_var.Compute(decay, all.var * (n / std::max(n - 1, 1.0)));
        const Normalized out = record(InOrderOf(x, arrangement.Undo(all.y)),
                                      Reshape(all.mean, channels), Reshape(all.inv_std, channels));
        Update(own_mean, own_var, x, gamma, [] {});
        return out;
    }
    own_mean.Begin();
    own_var.Begin();
    const Array y = EmptyUnchecked(arrangement.shape, x.dtype(), device);
    const Array mean = EmptyUnchecked(channels, wide, device);
    const Array inv_std = EmptyUnchecked(channels, wide, device);
    const Normalized out = record(arrangement.Undo(y), mean, inv_std);
    Update(own_mean, own_var, x, gamma, [&] {
        CallOn<kernels::BatchNorm>(device, arrangement.Contiguous(x), ToVector(gamma, wide),
                                   ToVector(beta, wide), eps, decay, own_mean.vector(wide, device),
                                   own_var.vector(wide, device), y, mean, inv_std);
    });
    return out;
}

Array BatchNorm(const Array& x, const Array& gamma, const Array& beta,
                const std::optional<Array>& running_mean, const std::optional<Array>& running_var,
                double eps, double decay, const OptionalAxes& axis) {
    return BatchNormWithStatistics(x, gamma, beta, running_mean, running_var, eps, decay, axis).y;
}

Array FixedBatchNorm(const Array& x, const Array& gamma, const Array& beta, const Array& mean,
                     const Array& var, double eps, const OptionalAxes& axis) {
    constexpr const char* kOp = kFixedBatchNorm.name;
    Device& device = x.device();
    internal::CheckNormalized(kOp, "x", x, device);
    const Axes reduced = NormalizeAxes(kOp, axis.value_or(Axes{0}), x.ndim());
    internal::CheckEps(kOp, eps);
    const std::pair<const char*, const Array*> params[] = {
        {"gamma", &gamma}, {"beta", &beta}, {"mean", &mean}, {"var", &var}};
    for (const auto& [name, param] : params) {
        internal::CheckNormalized(kOp, name, *param, device);
        internal::CheckParamShape(kOp, name, *param, x.shape(), reduced);
    }
    const Dtype wide = internal::WideDtype(x.dtype());
    const Shape params_shape = internal::BroadcastParams(x.shape(), reduced);
    const auto spread = [=](const Array& p) {
        return Reshape(AsType(p, wide, false), params_shape);
    };
    Array y;
    if (x.GetTotalSize() == 0) {
        y = EmptyUnchecked(x.shape(), x.dtype(), device);
    } else if (HasKernel<kernels::FixedBatchNorm>(device)) {
        const Arrangement arrangement = internal::ByChannel(x, reduced);
        const Array out = EmptyUnchecked(arrangement.shape, x.dtype(), device);
        CallOn<kernels::FixedBatchNorm>(device, arrangement.Contiguous(x), ToVector(gamma, wide),
                                        ToVector(beta, wide), ToVector(mean, wide),
                                        ToVector(var, wide), eps, out);
        y = arrangement.Undo(out);
    } else {
        const auto of = [&](const Array& p) { return spread(Detached(p)); };
        const Array centered = AsType(Detached(x), wide, false) - of(mean);
        y = InOrderOf(x, centered * (of(gamma) * Reciprocal(Sqrt(of(var) + eps))) + of(beta));
    }
    const ConstArrayRef inputs[] = {x, gamma, beta, mean, var};
    if (Record rec{kFixedBatchNorm, inputs, std::span{&y, 1}}) {
        rec.GradAll([x = rec.Save(x), gamma = rec.Save(gamma), mean = rec.Save(Kept(mean)),
                     var = rec.Save(Kept(var)), beta_shape = beta.shape(), spread, eps, wide,
                     params_shape](GradContext& context) {
            const auto needs = [&](int i) { return context.IsInputGradRequired(i); };
            const Array g = AsType(context.output_grad(), wide, false);
            const Array r = Reciprocal(Sqrt(spread(var()) + eps));
            const Array scale = spread(gamma()) * r;
            const auto to_param = [&](const Array& a) { return internal::SumTo(a, params_shape); };
            if (needs(0)) context.SetInputGrad(0, g * scale);
            if (needs(1) || needs(4)) {
                const Array u = (AsType(x(), wide, false) - spread(mean())) * r;
                const Array ggamma = to_param(g * u);
                if (needs(1)) context.SetInputGrad(1, Reshape(ggamma, gamma().shape()));
                if (needs(4)) {
                    context.SetInputGrad(4, Reshape(ggamma * scale * r * -0.5, var().shape()));
                }
            }
            if (needs(2) || needs(3)) {
                const Array gbeta = to_param(g);
                if (needs(2)) context.SetInputGrad(2, Reshape(gbeta, beta_shape));
                if (needs(3)) context.SetInputGrad(3, Reshape(-(gbeta * scale), mean().shape()));
            }
        });
    }
    return y;
}

}  // namespace chainerx
