// Normal numbers.
#pragma once

#include "chainerx/cuda/random/device/fill.h"
#include "chainerx/native/random/simd/normal_pairs.h"

namespace chainerx::cuda {

inline void ToNormals(const philox::Block& block, float (&z)[4]) {
    using native::gpu::Batch;
#pragma unroll
    for (int j = 0; j < 4; j += 2) {
        const native::gpu::NormalPairs pairs{Batch<uint32_t>(block.v[j]),
                                             Batch<uint32_t>(block.v[j + 1])};
        z[j] = pairs.cosines.v;
        z[j + 1] = pairs.sines.v;
    }
}
inline void ToNormals(const philox::Block& block, double (&z)[2]) {
    native::gpu::BatchD x = native::gpu::ToLogArgument(philox::Join(block.v[0], block.v[1]));
    native::gpu::BatchD y = native::gpu::ToAngle(philox::Join(block.v[2], block.v[3]));
    native::gpu::ToNormalPair(x, y);
    z[0] = x.v;
    z[1] = y.v;
}

template <typename T>
inline void FillNormal(const FillParams& p) {
    using C = Number<T>;
    constexpr int kWidth = kFloatsOfBlock<T>;
    const philox::Stream stream = StreamOf(p.call);
    const int64_t i = ThreadNumber();
    if (i * kWidth >= p.size) return;
    C z[kWidth];
    ToNormals(stream.Get(static_cast<uint64_t>(i)), z);
    const C mean = static_cast<C>(p.range[0]);
    const C deviation = static_cast<C>(p.range[1]);
    Numbers<T, kWidth> y;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) y.v[j] = static_cast<T>(mean + deviation * z[j]);
    StoreNumbers(p.out, p.size, i * kWidth, y);
}

}  // namespace chainerx::cuda
