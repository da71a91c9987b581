// col2im: input gradients most of whose windows would reach beyond gy. One product computes the
// column matrix, which is then added to gx element by element.

#include <algorithm>

#include "chainerx/native/conv/conv_algorithms.h"
#include "chainerx/native/conv/conv_operands.h"
#include "chainerx/native/gemm/blas.h"
#include "chainerx/native/native_kernel.h"

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
    Range Inside(int64_t tap) const {
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
        const Range part = axis.Inside(tap[a]);
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

template <typename T>
void RunCol2Im(const Array& gy, const Array& w, const ConvGeometry& geometry, const Array& gx) {
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
        constexpr int64_t kMin = 1 << 15;  // 10 us
        if (rows * plan.positions < 2 * kMin) {
            for (int64_t c = 0; c < ins; ++c) add(c);
        } else {
            ParallelFor(ins, add);
        }
    }
}

}  // namespace

void InputGradCol2Im(const Array& gy, const Array& w, const Array& b, const ConvGeometry& geometry,
                     const Array& gx) {
    VisitConvDtype(gx.dtype(), [&]<typename T>(T, Dtype dtype) {
        FillWithBias(AsContiguousOf(b, dtype), gx);
        RunCol2Im<T>(AsContiguousOf(gy, dtype), AsContiguousOf(w, dtype), geometry, gx);
    });
}

}  // namespace chainerx::native
