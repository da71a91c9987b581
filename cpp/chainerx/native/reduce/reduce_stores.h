// Stores: convert accumulators of the policies (reduce_policies.h) to results.
#pragma once

#include <cmath>
#include <type_traits>

#include "chainerx/native/reduce/reduce_policies.h"

namespace chainerx::native {
namespace {

// Writes f(acc[j], j) to the outputs.
template <typename Out, typename Acc, typename F>
void StoreEach(const void* acc, int64_t n, char* out, int64_t stride, F f) {
    const auto* __restrict a = static_cast<const Acc*>(acc);
    if (stride == sizeof(Out)) {  // auto-vectorized
        auto* __restrict to = reinterpret_cast<Out*>(out);
        for (int64_t j = 0; j < n; ++j) to[j] = f(a[j], j);
        return;
    }
    for (int64_t j = 0; j < n; ++j) *reinterpret_cast<Out*>(out + j * stride) = f(a[j], j);
}

template <typename Out>
struct StoreCast {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t, const void*, char* out, int64_t stride) {
        StoreEach<Out, Acc>(acc, n, out, stride, [](Acc a, int64_t) { return Cast<Out>(a); });
    }
};
template <typename T>
struct StoreTotal : StoreCast<TotalOut<T>> {};
template <typename T>
struct StoreSame : StoreCast<OrderedItem<T>> {};
template <typename T>
struct StoreBool : StoreCast<bool> {};
template <typename T>
struct StoreCount : StoreCast<int64_t> {};
template <typename T>
struct StoreWide : StoreCast<double> {};

// The sum divided by the number of elements, in `Out`.
template <typename Out>
struct StoreQuotient {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t count, const void*, char* out,
                    int64_t stride) {
        using C = std::conditional_t<std::is_integral_v<Acc>, double, Acc>;
        using R = typename RealOf<C>::type;
        const R divisor = static_cast<R>(count);
        StoreEach<Out, Acc>(acc, n, out, stride,
                            [&](Acc a, int64_t) { return Cast<Out>(C(C(a) / divisor)); });
    }
};
template <typename T>
struct StoreMean : StoreQuotient<MeanOut<T>> {};
template <typename T>
struct StoreCenter : StoreQuotient<MeanAcc<T>> {};
template <typename T>
struct StoreVar : StoreQuotient<typename RealOf<MeanOut<T>>::type> {};
template <typename T>
struct StoreStd {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t count, const void*, char* out,
                    int64_t stride) {
        using Out = typename RealOf<MeanOut<T>>::type;
        const Acc divisor = static_cast<Acc>(count);
        StoreEach<Out, Acc>(acc, n, out, stride,
                            [&](Acc a, int64_t) { return Cast<Out>(std::sqrt(a / divisor)); });
    }
};

// The maximum, or 0 if it is infinite: exp(x - 0) is right then.
template <typename T>
struct StoreShift {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t, const void*, char* out, int64_t stride) {
        using Out = FloatAcc<T>;
        StoreEach<Out, Acc>(acc, n, out, stride, [](Acc a, int64_t) {
            const auto v = static_cast<Out>(a);
            return std::isfinite(v) ? v : Out(0);
        });
    }
};

template <typename T>
struct StoreLogSumExp {
    template <typename Acc>
    static void Run(const void* acc, int64_t n, int64_t, const void* center, char* out,
                    int64_t stride) {
        using Out = MeanOut<OrderedItem<T>>;
        const auto* c = static_cast<const Acc*>(center);
        StoreEach<Out, Acc>(acc, n, out, stride,
                            [&](Acc a, int64_t j) { return Cast<Out>(Acc(std::log(a) + c[j])); });
    }
};

}  // namespace
}  // namespace chainerx::native
