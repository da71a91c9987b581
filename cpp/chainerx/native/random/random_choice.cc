// Von Mises angles, and choice by probabilities (choice.h).
#include <cstdint>

#include "chainerx/kernels/random/random.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/random/choice.h"
#include "chainerx/native/random/random_loops.h"

namespace chainerx::native {
namespace {

void RandomVonMises(const Array& state, const Array& kappa, const Array& out) {
    const philox::Stream stream = NextCall(state);
    const Each<double> kappas{kappa};
    auto* to = reinterpret_cast<double*>(out.raw_data());
    ForPairs(stream, out.GetTotalSize(),
             [&](int64_t i, double u, double v) { to[i] = DrawAngle(stream, i, kappas[i], u, v); });
}
CX_NATIVE_KERNEL(RandomVonMises)

void RandomIndex(const Array& state, const Array& sums, const Array& out) {
    const philox::Stream stream = NextCall(state);
    const int64_t rows = sums.shape()[0];
    const int64_t count = sums.shape()[1];
    const auto* values = reinterpret_cast<const double*>(sums.raw_data());
    auto* to = reinterpret_cast<int64_t*>(out.raw_data());
    ForPairs(stream, out.GetTotalSize(), [=](int64_t i, double u, double) {
        to[i] = FindPlace(values + i % rows * count, count, u);
    });
}
CX_NATIVE_KERNEL(RandomIndex)

}  // namespace
}  // namespace chainerx::native
