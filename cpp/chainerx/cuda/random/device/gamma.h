// Gamma variates.
#pragma once

#include "chainerx/cuda/random/device/distributions.h"
#include "chainerx/cuda/random/device/normal.h"
#include "chainerx/native/random/gamma.h"

namespace chainerx::cuda {

// C is the type of elements, and computes.
template <typename C>
inline void DrawGamma(const DrawParams& p) {
    constexpr int kWidth = 16 / sizeof(C);
    const philox::Stream stream = StreamOf(p.call);
    const int64_t block = ThreadNumber();
    if (block * kWidth >= p.size) return;
    C z[kWidth];
    C u[kWidth];
    ToNormals(stream.Get(static_cast<uint64_t>(block)), z);
    ToUniforms(stream.Get(native::kSecondNumbers + static_cast<uint64_t>(block)), u);
    C* out = At<C>(p.out);
#pragma unroll 1
    for (int j = 0; j < kWidth; ++j) {
        const int64_t i = block * kWidth + j;
        if (i >= p.size) return;
        const double shape = ParameterOf<double>(p, 0, i);
        const native::Cubes<C> cubes{shape};
        C y;
        if (!cubes.Draw(z[j], u[j], &y)) {
            y = static_cast<C>(native::DrawSlowly(stream, i, cubes.d, cubes.c, z[j], u[j]));
        }
        if (shape < 1 || p.log) {
            double power[2] = {};
            if (shape < 1) {
                const auto pair = static_cast<uint64_t>(i / 2);
                ToUniforms(stream.Get(native::kThirdNumbers + pair), power);
            }
            y = static_cast<C>(native::FinishGamma(y, shape, power[i % 2], p.log));
        }
        out[i] = y;
    }
}

}  // namespace chainerx::cuda
