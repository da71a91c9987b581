// log(sum(exp(x))): the sum of exp(x - maximum).
#pragma once

#include "chainerx/cuda/reduce/device/reduce.h"
#include "chainerx/native/math/simd/math_explog.h"

namespace chainerx::cuda {

template <typename T>
struct Exps {
    using Acc = MeanOf<T>;
    using Center = Acc;
    static Acc Identity() { return Acc(0); }
    static Acc Load(const T& x, Center c) {
        return native::gpu::math::Exp(
                   xsimd::batch<Acc>(static_cast<Acc>(static_cast<Number<T>>(x)) - c))
            .v;
    }
    static Acc Combine(Acc a, Acc b) { return a + b; }
};

// The maximum, or 0 if it is infinite: exp(x - 0) is right then.
template <typename Out>
struct StoreShift {
    template <typename Acc>
    static Out Of(Acc a, int64_t /*count*/, NoCenter) {
        return a - a == Acc(0) ? static_cast<Out>(a) : Out(0);
    }
};
template <typename Out>
struct StoreLogSumExp {
    template <typename Acc>
    static Out Of(Acc a, int64_t /*count*/, Acc center) {
        return static_cast<Out>(native::gpu::math::Log(xsimd::batch<Acc>(a)).v + center);
    }
};

}  // namespace chainerx::cuda
