#include <limits>

#include "chainerx/ops/attention/attention_recorded.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/linalg/linalg.h"
#include "chainerx/ops/random/dropout.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {

Array ComposedAttention(const AttentionInputs& in) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const Dtype dtype = in.q.dtype();
    const Dtype wide = dtype == Dtype::kFloat64 ? dtype : Dtype::kFloat32;
    const int8_t last = in.q.ndim() - 1;
    const Axes axis{last};
    // Repeats each head of keys for the queries of its group.
    const auto spread = [&](const Array& x) {
        const Array y = AsType(x, wide, false);
        if (last < 2 || y.shape()[last - 2] == in.q.shape()[last - 2]) return y;
        const int64_t group = in.q.shape()[last - 2] / y.shape()[last - 2];
        return Repeat(y, group, static_cast<int8_t>(last - 2));
    };
    const Array v = spread(in.v);
    const Array turned = Swapaxes(spread(in.k), last, static_cast<int8_t>(last - 1));
    Array x = Matmul(AsType(in.q, wide, false), turned) * Scalar{in.options.scale};
    if (!in.mask.is_null()) {
        x = in.mask.dtype() == Dtype::kBool ? Where(in.mask, x, Scalar{-kInfinity})
                                            : x + AsType(in.mask, wide, false);
    }
    if (in.options.is_causal) {
        const Array seen =
            Tri(in.q.shape()[last - 1], in.k.shape()[last - 1], 0, Dtype::kBool, in.q.device());
        x = Where(seen, x, Scalar{-kInfinity});
    }
    if (in.k.shape()[last - 1] == 0) return AsType(Matmul(x, v), dtype, false);
    const Array most = AMax(x.AsGradStopped(), axis, true);
    x = Exp(x - Where(most == Scalar{-kInfinity}, Scalar{0.0}, most));
    const Array sum = Sum(x, axis, true);
    x = x / Where(sum == Scalar{0.0}, Scalar{1.0}, sum);
    if (!in.key.is_null()) x = DropAt(x, in.key, in.options.dropout);
    return AsType(Matmul(x, v), dtype, false);
}

}  // namespace chainerx::internal
