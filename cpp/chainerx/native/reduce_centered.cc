// Reductions in two passes: the second one is centered on the result of the first.
#include <limits>

#include "chainerx/kernels/reduction.h"
#include "chainerx/native/reduce_kernel.h"

namespace chainerx::native {
namespace {

// Reduces twice: `first` gives a center to each output, of `center_size` bytes.
void ReduceTwice(const Array& x, const Axes& axes, const Array& out, const ReduceLoops& first,
                 int64_t center_size, const ReduceLoops& second) {
    const ReducePlan plan{x, axes, out};
    alignas(16) char one[16];
    Array many;
    char* centers = one;
    if (plan.n_out > 1) {
        many = EmptyUnchecked(Shape{plan.n_out * center_size}, Dtype::kUInt8, out.device());
        centers = many.raw_data();
    }
    RunReduce(plan.Into(centers, center_size), first);
    RunReduce(plan, second, centers, center_size);
}

template <template <typename> typename Store>
void Spread(const Array& x, const Axes& axes, const Array& out) {
    if (FillIfEmpty(x, out, std::numeric_limits<double>::quiet_NaN())) return;
    const ReduceLoops& first = g_table<MeanPolicy, StoreCenter>[x.dtype()];
    ReduceTwice(x, axes, out, first, first.acc_size, g_table<SquarePolicy, Store>[x.dtype()]);
}

void Var(const Array& x, const Axes& axes, const Array& out) { Spread<StoreVar>(x, axes, out); }
CX_NATIVE_KERNEL(Var)

void Std(const Array& x, const Axes& axes, const Array& out) { Spread<StoreStd>(x, axes, out); }
CX_NATIVE_KERNEL(Std)

void LogSumExp(const Array& x, const Axes& axes, const Array& out) {
    if (FillIfEmpty(x, out, -std::numeric_limits<double>::infinity())) return;
    const ReduceLoops& first = g_table<MaxFloatPolicy, StoreShift>[x.dtype()];
    ReduceTwice(x, axes, out, first, first.acc_size, g_table<ExpPolicy, StoreLogSumExp>[x.dtype()]);
}
CX_NATIVE_KERNEL(LogSumExp)

[[maybe_unused]] const bool kCenterIsa =
    UseIsa(g_table<MeanPolicy, StoreCenter>, reduce_loops().sum);
[[maybe_unused]] const bool kVarIsa =
    UseIsa(g_table<SquarePolicy, StoreVar>, reduce_loops().square);
[[maybe_unused]] const bool kStdIsa =
    UseIsa(g_table<SquarePolicy, StoreStd>, reduce_loops().square);
[[maybe_unused]] const bool kShiftIsa =
    UseIsa(g_table<MaxFloatPolicy, StoreShift>, reduce_loops().max);

}  // namespace
}  // namespace chainerx::native
