// Zipf and hypergeometric variates (ranks.h).
#include <cstdint>

#include "chainerx/kernels/random/random.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/random/random_loops.h"
#include "chainerx/native/random/ranks.h"

namespace chainerx::native {
namespace {

void RandomZipf(const Array& state, const Array& a, const Array& out) {
    const philox::Stream stream = NextCall(state);
    const Each<double> exponents{a};
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    if (out.GetTotalSize() == 0) return;
    if (exponents.is_one() && exponents[0] < kOnlyOne) {
        const ZipfRejection accept{exponents[0]};
        ForPairs(stream, out.GetTotalSize(),
                 [&](int64_t i, double u, double v) { to[i] = Reject(stream, i, u, v, accept); });
        return;
    }
    ForPairs(stream, out.GetTotalSize(), [&](int64_t i, double u, double v) {
        to[i] = DrawZipf(stream, i, exponents[i], u, v);
    });
}
CX_NATIVE_KERNEL(RandomZipf)

void RandomHypergeometric(const Array& state, const Array& good, const Array& bad,
                          const Array& sample, const Array& out) {
    const philox::Stream stream = NextCall(state);
    const Each<int64_t> goods{good};
    const Each<int64_t> bads{bad};
    const Each<int64_t> samples{sample};
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    if (out.GetTotalSize() == 0) return;
    if (goods.is_one() && bads.is_one() && samples.is_one()) {
        const Hypergeometric all{goods[0], bads[0], samples[0]};
        ForPairs(stream, out.GetTotalSize(),
                 [&](int64_t i, double u, double v) { to[i] = all.Draw(stream, i, u, v); });
        return;
    }
    ForPairs(stream, out.GetTotalSize(), [&](int64_t i, double u, double v) {
        to[i] = Hypergeometric{goods[i], bads[i], samples[i]}.Draw(stream, i, u, v);
    });
}
CX_NATIVE_KERNEL(RandomHypergeometric)

}  // namespace
}  // namespace chainerx::native
