// Mean, and two-pass reductions: the second pass is centered on the result of the first.
#include <limits>

#include "chainerx/kernels/reduce/reduction.h"
#include "chainerx/native/reduce/reduce_kernel.h"

namespace chainerx::native {
namespace {

CX_REDUCE(Mean, MeanPolicy, StoreMean, std::numeric_limits<double>::quiet_NaN())

// Reduces twice: `first` computes the center of each output.
void ReduceTwice(const Array& x, const Axes& axes, const Array& out, const ReduceLoops& first,
                 const ReduceLoops& second) {
    const ReducePlan plan{x, axes, out};
    alignas(16) char one[16];
    Array many;
    char* centers = one;
    if (plan.n_out > 1) {
        many = EmptyUnchecked(Shape{plan.n_out * second.center_size}, Dtype::kUInt8, out.device());
        centers = many.raw_data();
    }
    RunReduce(plan.Into(centers, second.center_size), first);
    RunReduce(plan, second, centers);
}

template <template <typename> typename Store>
void Spread(const Array& x, const Axes& axes, const Array& out) {
    if (FillIfEmpty(x, out, std::numeric_limits<double>::quiet_NaN())) return;
    const ReduceLoops& first = g_table<MeanPolicy, StoreCenter>[x.dtype()];
    ReduceTwice(x, axes, out, first, g_table<SquarePolicy, Store>[x.dtype()]);
}

void Var(const Array& x, const Axes& axes, const Array& out) { Spread<StoreVar>(x, axes, out); }
CX_NATIVE_KERNEL(Var)

void Std(const Array& x, const Axes& axes, const Array& out) { Spread<StoreStd>(x, axes, out); }
CX_NATIVE_KERNEL(Std)

void LogSumExp(const Array& x, const Axes& axes, const Array& out) {
    if (FillIfEmpty(x, out, -std::numeric_limits<double>::infinity())) return;
    const ReduceLoops& first = g_table<MaxPolicy, StoreShift>[x.dtype()];
    ReduceTwice(x, axes, out, first, g_table<ExpPolicy, StoreLogSumExp>[x.dtype()]);
}
CX_NATIVE_KERNEL(LogSumExp)

[[maybe_unused]] const bool kCenteredIsa =
    UseIsa(g_table<MeanPolicy, StoreMean>, reduce_loops().sum) &&
    UseIsa(g_table<MeanPolicy, StoreMean>, reduce_auto_loops().mean) &&
    UseIsa(g_table<MeanPolicy, StoreCenter>, reduce_loops().sum) &&
    UseIsa(g_table<MeanPolicy, StoreCenter>, reduce_auto_loops().mean) &&
    UseIsa(g_table<SquarePolicy, StoreVar>, reduce_loops().square) &&
    UseIsa(g_table<SquarePolicy, StoreStd>, reduce_loops().square) &&
    UseIsa(g_table<MaxPolicy, StoreShift>, reduce_loops().max) &&
    UseIsa(g_table<MaxPolicy, StoreShift>, reduce_auto_loops().max);

}  // namespace
}  // namespace chainerx::native
