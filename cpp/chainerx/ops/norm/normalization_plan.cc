#include "chainerx/ops/norm/normalization_plan.h"

#include <span>

#include "chainerx/kernels/norm/normalization.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

constexpr OpInfo kBatchNormGrad{"batch_norm_grad", &kernels::BatchNormGrad::kInfo};
constexpr OpInfo kRowNormGrad{"row_norm_grad", &kernels::RowNormGrad::kInfo};

// ggamma and gbeta have the shape of gamma. gx is null if it is not needed.
struct Grads {
    Array ggamma;
    Array gbeta;
    Array gx;
};

bool HasGradKernel(const NormalizationPlan& plan, const Device& device) {
    return plan.by_channel ? HasKernel<kernels::BatchNormGrad>(device)
                           : HasKernel<kernels::RowNormGrad>(device);
}

Grads Compute(const NormalizationPlan& plan, const Array& x, const Array& gamma, const Array& mean,
              const Array& inv_std, const Array& gy, bool wants_gx) {
    Device& device = x.device();
    const Dtype wide = WideDtype(x.dtype());
    const Arrangement& arrangement = plan.arrangement;
    if (x.GetTotalSize() == 0) {
        return {Zeros(gamma.shape(), wide, device), Zeros(gamma.shape(), wide, device),
                EmptyUnchecked(x.shape(), x.dtype(), device)};
    }
    if (!HasGradKernel(plan, device)) {
        const auto grads =
            ComposedNormalizationGrad(plan.terms, arrangement.View(Detached(x)), Detached(gamma),
                                      arrangement.View(Detached(gy)));
        return {Reshape(grads.ggamma, gamma.shape()), Reshape(grads.gbeta, gamma.shape()),
                arrangement.Undo(AsType(grads.gx, x.dtype(), false))};
    }
    Grads out{EmptyUnchecked(gamma.shape(), wide, device),
              EmptyUnchecked(gamma.shape(), wide, device), Array{}};
    const Array gx = EmptyUnchecked(wants_gx ? arrangement.shape : Shape{0}, x.dtype(), device);
    const Array in = arrangement.Contiguous(x);
    const Array g = arrangement.Contiguous(AsType(Detached(gy), x.dtype(), false));
    const Array scale = ToVector(gamma, wide);
    const Array ggamma = ToVector(out.ggamma, wide);
    const Array gbeta = ToVector(out.gbeta, wide);
    if (plan.by_channel) {
        CallOn<kernels::BatchNormGrad>(device, in, scale, mean, inv_std, g, gx, ggamma, gbeta);
    } else {
        CallOn<kernels::RowNormGrad>(device, in, scale, mean, inv_std, g, plan.terms.centered,
                                     plan.terms.eps, gx, ggamma, gbeta);
    }
    if (wants_gx) out.gx = arrangement.Undo(gx);
    return out;
}

// Differentiable in x, gamma and gy.
Grads NormalizationGrad(const NormalizationPlan& plan, const Array& x, const Array& gamma,
                        const Array& mean, const Array& inv_std, const Array& gy, bool wants_gx) {
    Grads out = Compute(plan, x, gamma, mean, inv_std, gy, wants_gx);
    const Array outputs[] = {out.ggamma, out.gbeta, out.gx};
    const ConstArrayRef inputs[] = {x, gamma, gy};
    const OpInfo& op = plan.by_channel ? kBatchNormGrad : kRowNormGrad;
    if (Record rec{op, inputs, std::span{outputs, wants_gx ? 3u : 2u}}) {
        rec.GradAll([plan, x = rec.Save(x), gamma = rec.Save(gamma), gy = rec.Save(gy),
                     wants_gx](GradContext& context) {
            const Arrangement& arrangement = plan.arrangement;
            const auto grad_of = [&](int i) {
                return context.HasOutputGrad(i) ? context.output_grad(i) : Array{};
            };
            const Array ggx = wants_gx ? grad_of(2) : Array{};
            const Array scale = gamma();
            const auto grads = ComposedSecondGrad(
                plan.terms, arrangement.View(x()), scale, arrangement.View(gy()),
                ggx.is_null() ? ggx : arrangement.View(ggx), grad_of(0), grad_of(1));
            const auto needs = [&](int i, const Array& g) {
                return !g.is_null() && context.IsInputGradRequired(i);
            };
            if (needs(0, grads.x)) context.SetInputGrad(0, arrangement.Undo(grads.x));
            if (needs(1, grads.gamma)) {
                context.SetInputGrad(1, Reshape(grads.gamma, scale.shape()));
            }
            if (needs(2, grads.gy)) context.SetInputGrad(2, arrangement.Undo(grads.gy));
        });
    }
    return out;
}

}  // namespace

int64_t NormalizationPlan::count() const { return CountReduced(arrangement.shape, terms.axes); }

NormalizationPlan PlanByChannel(const Array& x, const Axes& reduced, double eps) {
    const Arrangement arrangement = ByChannel(x, reduced);
    return {true, arrangement, {{0, 2}, {1, arrangement.shape[1], 1}, true, eps}};
}

NormalizationPlan PlanByRow(const Arrangement& arrangement, bool centered, double eps) {
    const Shape& shape = arrangement.shape;
    return {false, arrangement, {{2, 3}, {1, shape[1], shape[2], 1}, centered, eps}};
}

Array ToVector(const Array& x, Dtype dtype) {
    const Array p = AsContiguous(AsType(Detached(x), dtype, false));
    return p.ndim() == 1 ? p : Reshape(p, Shape{p.GetTotalSize()});
}

void RecordNormalization(const OpInfo& op, const NormalizationPlan& plan, const Array& x,
                         const Array& gamma, const Array& beta, const Array& y, const Array& mean,
                         const Array& inv_std) {
    if (Record rec{op, {x, gamma, beta}, y}) {
        rec.GradAll([plan, x = rec.Save(x), gamma = rec.Save(gamma), mean = rec.Save(mean),
                     inv_std = rec.Save(inv_std), beta_shape = beta.shape()](GradContext& context) {
            const auto needs = [&](int i) { return context.IsInputGradRequired(i); };
            const Grads grads = NormalizationGrad(plan, x(), gamma(), mean(), inv_std(),
                                                  context.output_grad(), needs(0));
            if (needs(0)) context.SetInputGrad(0, grads.gx);
            if (needs(1)) context.SetInputGrad(1, grads.ggamma);
            if (needs(2)) context.SetInputGrad(2, Reshape(grads.gbeta, beta_shape));
        });
    }
}

}  // namespace chainerx::internal
