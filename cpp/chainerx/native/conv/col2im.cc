#include "chainerx/native/conv/col2im.h"

#include <algorithm>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/gemm/blas.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native {
namespace {

// One spatial axis: position i adds to element i * step + t * dilate + offset by tap t.
struct ScatterAxis {
    int64_t in;   // length of gy
    int64_t out;  // length of gx
    int64_t taps;
    int64_t step;
    int64_t dilate;
    int64_t offset;
    int64_t stride;  // stride in gx

    // The range of positions whose tap `tap` falls inside gx.
    Part Inside(int64_t tap) const {
        const int64_t shift = tap * dilate + offset;
        const int64_t begin = shift < 0 ? CeilDiv(-shift, step) : 0;
        const int64_t end = shift < out ? std::min(in, CeilDiv(out - shift, step)) : 0;
        return {begin, std::max(begin, end)};
    }
};

template <typename T>
struct ScatterPlan {
    int ndim;
    ScatterAxis axes[kMaxSpatial];
    int64_t positions{1};
    int64_t taps{1};

    ScatterPlan(const Shape& gy, const Shape& w, const Shape& gx, const ConvGeometry& geometry)
        : ndim{gx.ndim() - 2} {
        int64_t stride = 1;
        for (int a = ndim - 1; a >= 0; --a) {
            axes[a] = {gy[a + 2],          gx[a + 2],        w[a + 2], geometry.stride[a],
                       geometry.dilate[a], -geometry.pad[a], stride};
            stride *= gx[a + 2];
            positions *= gy[a + 2];
            taps *= w[a + 2];
        }
    }

    // Adds the products of one tap at all positions to a channel of gx.
    void Add(int64_t t, const T* from, T* gx) const {
        int64_t tap[kMaxSpatial];
        for (int a = ndim - 1; a >= 0; --a) {
            tap[a] = t % axes[a].taps;
            t /= axes[a].taps;
        }
        AddAxis(0, tap, from, gx);
    }

 private:
    void AddAxis(int a, const int64_t* tap, const T* from, T* gx) const {
        const ScatterAxis& axis = axes[a];
        const Part part = axis.Inside(tap[a]);
        int64_t each = 1;  // elements of `from`
        for (int i = a + 1; i < ndim; ++i) each *= axes[i].in;
        const int64_t first = tap[a] * axis.dilate + axis.offset;
        if (a == ndim - 1) {
            for (int64_t i = part.begin; i < part.end; ++i) gx[first + i * axis.step] += from[i];
            return;
        }
        for (int64_t i = part.begin; i < part.end; ++i) {
            AddAxis(a + 1, tap, from + i * each, gx + (first + i * axis.step) * axis.stride);
        }
    }
};

}  // namespace

bool IsForScatter(const Shape& gx, const Shape& w, const Shape& gy, const ConvGeometry& geometry) {
    // The column matrix is held as a whole; if it is large, or each of its elements is a short sum,
    // computing padding in the implicit GEMM costs less.
    constexpr double kMostBytes = 0x1p20;
    constexpr int64_t kLeastDepth = 32;
    constexpr double kWaste = 1.6;
    if (gx.GetTotalSize() == 0 || w[0] / geometry.groups < kLeastDepth) return false;
    double gathered = 1;
    double scattered = 1;
    double product = 4.0 * static_cast<double>(w[1]);
    for (int8_t a = 2; a < gx.ndim(); ++a) {
        gathered *= static_cast<double>(gx[a]) / static_cast<double>(geometry.stride[a - 2]);
        scattered *= static_cast<double>(gy[a]);
        product *= static_cast<double>(w[a]) * static_cast<double>(gy[a]);
    }
    return gathered > kWaste * scattered && product < kMostBytes;
}

template <typename T>
void RunScatterConv(const Array& gy, const Array& w, const ConvGeometry& geometry,
                    const Array& gx) {
    const ScatterPlan<T> plan{gy.shape(), w.shape(), gx.shape(), geometry};
    const int64_t groups = geometry.groups;
    const int64_t outs = w.shape()[0] / groups;
    const int64_t ins = w.shape()[1];
    const int64_t rows = ins * plan.taps;
    const int64_t plane = gx.GetTotalSize() / (gx.shape()[0] * gx.shape()[1]);
    const auto* weights = reinterpret_cast<const T*>(w.raw_data());
    const auto* from = reinterpret_cast<const T*>(gy.raw_data());
    auto* to = reinterpret_cast<T*>(gx.raw_data());
    const Scratch<T> product{rows * plan.positions};
    for (int64_t i = 0; i < gx.shape()[0] * groups; ++i) {
        internal::CheckInterrupt();
        const int64_t group = i % groups;
        Gemm<T>(true, false, rows, plan.positions, outs, weights + group * outs * rows, rows,
                from + i * outs * plan.positions, plan.positions, product.data(), plan.positions,
                false);
        const auto add = [&](int64_t c) {
            for (int64_t t = 0; t < plan.taps; ++t) {
                plan.Add(t, product.data() + (c * plan.taps + t) * plan.positions,
                         to + (i * ins + c) * plane);
            }
        };
        constexpr int64_t kLeast = 1 << 15;  // 10 us
        if (rows * plan.positions < 2 * kLeast) {
            for (int64_t c = 0; c < ins; ++c) add(c);
        } else {
            ParallelFor(ins, add);
        }
    }
}

#define CX_SCATTER(T) \
    template void RunScatterConv<T>(const Array&, const Array&, const ConvGeometry&, const Array&);
CX_SCATTER(float)
CX_SCATTER(double)
CX_SCATTER(uint32_t)
CX_SCATTER(uint64_t)
#undef CX_SCATTER

}  // namespace chainerx::native
