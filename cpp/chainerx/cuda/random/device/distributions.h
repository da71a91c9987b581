// Distributions that need rejection or a table: their formulas are native's.
#pragma once

#include "chainerx/cuda/random/device/fill.h"
#include "chainerx/native/random/choice.h"
#include "chainerx/native/random/counts.h"
#include "chainerx/native/random/ranks.h"

namespace chainerx::cuda {

template <typename T>
inline T ParameterOf(const DrawParams& p, int k, int64_t i) {
    return At<const T>(p.in[k])[i * p.steps[k]];
}

// Draws element i, from the two uniform numbers of its Philox block.
struct DrawPoisson {
    using Out = int64_t;
    static Out Of(const DrawParams& p, const philox::Stream& stream, int64_t i, double u,
                  double v) {
        return native::DrawPoisson(stream, i, ParameterOf<double>(p, 0, i), u, v);
    }
};
struct DrawBinomial {
    using Out = int64_t;
    static Out Of(const DrawParams& p, const philox::Stream& stream, int64_t i, double u,
                  double v) {
        return native::DrawBinomial(stream, i, ParameterOf<int64_t>(p, 0, i),
                                    ParameterOf<double>(p, 1, i), u, v);
    }
};
struct DrawZipf {
    using Out = int64_t;
    static Out Of(const DrawParams& p, const philox::Stream& stream, int64_t i, double u,
                  double v) {
        return native::DrawZipf(stream, i, ParameterOf<double>(p, 0, i), u, v);
    }
};
struct DrawHypergeometric {
    using Out = int64_t;
    static Out Of(const DrawParams& p, const philox::Stream& stream, int64_t i, double u,
                  double v) {
        const native::Hypergeometric urn{ParameterOf<int64_t>(p, 0, i),
                                         ParameterOf<int64_t>(p, 1, i),
                                         ParameterOf<int64_t>(p, 2, i)};
        return urn.Draw(stream, i, u, v);
    }
};
struct DrawVonMises {
    using Out = double;
    static Out Of(const DrawParams& p, const philox::Stream& stream, int64_t i, double u,
                  double v) {
        return native::DrawAngle(stream, i, ParameterOf<double>(p, 0, i), u, v);
    }
};
struct DrawIndex {
    using Out = int64_t;
    static Out Of(const DrawParams& p, const philox::Stream&, int64_t i, double u, double) {
        const auto* sums = At<const double>(p.in[0]);
        return native::FindPlace(sums + i % p.rows * p.columns, p.columns, u);
    }
};

template <typename Draw>
inline void DrawFromPairs(const DrawParams& p) {
    const philox::Stream stream = StreamOf(p.call);
    const int64_t i = ThreadNumber();
    if (i >= p.size) return;
    double u[2];
    ToUniforms(stream.Get(static_cast<uint64_t>(i)), u);
    At<typename Draw::Out>(p.out)[i] = Draw::Of(p, stream, i, u[0], u[1]);
}

}  // namespace chainerx::cuda
