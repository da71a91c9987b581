// What n and k of convolutions stand for.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/cuda/conv/params.h"
#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/elementwise/params.h"

namespace chainerx::cuda {

enum class ConvPass { kForward, kInputGrad, kWeightGrad };

// Coordinates are 32-bit but where there are many axes, or huge ones.
template <int kDims>
using Coordinate = std::conditional_t<(kDims <= 3), int32_t, int64_t>;

// A coordinate that is outside of any array, also after two are added.
template <int kDims>
inline constexpr Coordinate<kDims> kOutside = -(Coordinate<kDims>(1) << (kDims <= 3 ? 30 : 62));

// An axis of the positions of `out` whose rest modulo the stride is given. Of a transposed
// convolution they are a convolution of stride 1 by some elements of the window; `a` and `out` are
// then entered at offsets. I has room for all coordinates.
template <ConvPass kPass, typename I>
inline ConvAxis AxisOf(const ConvAxis& axis, I rest, int64_t* a_offset, int64_t* out_offset) {
    ConvAxis of = axis;
    if constexpr (kPass == ConvPass::kInputGrad) {
        const I stride = static_cast<I>(axis.n_step);
        const I dilate = static_cast<I>(axis.k_step);
        const I tap_step = static_cast<I>(axis.tap_step);
        const I taps = static_cast<I>(axis.k_size);
        I at = rest + static_cast<I>(axis.origin);
        I tap = 0;
        if (stride > 1) {
            const I size = static_cast<I>(axis.n_size);
            while (tap < taps && tap < tap_step && at % stride != 0) {
                ++tap;
                at -= dilate;
            }
            const bool is_met = tap < taps && tap < tap_step;
            of.n_size = rest < size ? (size - rest + stride - 1) / stride : 0;
            of.k_size = is_met ? (taps - tap + tap_step - 1) / tap_step : 0;
        }
        of.origin = at / stride;
        of.n_step = 1;
        of.k_step = -(tap_step * dilate / stride);
        of.a_stride = axis.tap_step * axis.a_stride;
        of.out_stride = axis.n_step * axis.out_stride;
        *a_offset += tap * axis.a_stride;
        *out_offset += rest * axis.out_stride;
    }
    return of;
}

// All axes, in shared memory, of the class of a block.
template <int kDims>
struct ConvAxes {
    using Index = std::conditional_t<(kDims <= 3), uint32_t, uint64_t>;

    ConvAxis of[kDims];
    Divisor n_sizes[kDims];
    Divisor k_sizes[kDims];
    int64_t a_offsets[kDims];
    int64_t out_offsets[kDims];

    // To be called by all threads of a block.
    template <ConvPass kPass>
    void Set(const ConvParams& p, int64_t index) {
        const int d = static_cast<int>(threadIdx.x);
        if (d < kDims) {
            Coordinate<kDims> rest = 0;
            if constexpr (kPass == ConvPass::kInputGrad) {
                for (int i = kDims - 1; i >= d; --i) {
                    const auto step = static_cast<Coordinate<kDims>>(p.axes[i].n_step);
                    rest = static_cast<Coordinate<kDims>>(index) % step;
                    index = static_cast<Coordinate<kDims>>(index) / step;
                }
            }
            int64_t a_offset = 0;
            int64_t out_offset = 0;
            of[d] = AxisOf<kPass>(p.axes[d], rest, &a_offset, &out_offset);
            n_sizes[d] = MakeDivisor(of[d].n_size);
            k_sizes[d] = MakeDivisor(of[d].k_size);
            a_offsets[d] = a_offset;
            out_offsets[d] = out_offset;
        }
        __syncthreads();
    }
    int64_t CountPositions() const {
        int64_t n = 1;
        for (int d = 0; d < kDims; ++d) n *= of[d].n_size;
        return n;
    }
    int64_t CountTaps() const {
        int64_t n = 1;
        for (int d = 0; d < kDims; ++d) n *= of[d].k_size;
        return n;
    }
};

// What a value of n, or of k, adds to coordinates and offsets.
template <int kDims>
struct ConvPlace {
    int64_t offset;  // in b without the coordinates' part along n, in bytes
    int64_t other;   // in a (bytes), or in out (elements)
    Coordinate<kDims> at[kDims];
};

// The place of a value of n, or of k. Coordinates are multiplied by strides within the places, so
// that a place of n and one of k add up to an address.
template <bool kIsN, int kDims>
inline ConvPlace<kDims> PlaceOf(const ConvParams& p, const ConvAxes<kDims>& axes, int64_t number) {
    using Index = typename ConvAxes<kDims>::Index;
    ConvPlace<kDims> place;
    place.offset = 0;
    place.other = 0;
    auto rest = static_cast<Index>(number);
#pragma unroll
    for (int d = kDims - 1; d >= 0; --d) {
        const ConvAxis& axis = axes.of[d];
        const Index next = (kIsN ? axes.n_sizes : axes.k_sizes)[d].Divide(rest);
        const int64_t i = rest - next * static_cast<Index>(kIsN ? axis.n_size : axis.k_size);
        rest = next;
        const int64_t at = kIsN ? axis.origin + i * axis.n_step : i * axis.k_step;
        place.at[d] = static_cast<Coordinate<kDims>>(at);
        place.offset += at * axis.b_stride;
        place.other += i * (kIsN ? axis.out_stride : axis.a_stride);
    }
    place.offset += rest * (kIsN ? p.b_n_outer : p.b_k_outer);
    place.other += rest * (kIsN ? p.out_outer : p.a_outer);
    return place;
}

// Whether two places meet inside of b.
template <int kDims>
inline bool IsInside(const ConvAxes<kDims>& axes, const ConvPlace<kDims>& n,
                     const ConvPlace<kDims>& k) {
    using Index = typename ConvAxes<kDims>::Index;
    bool is_inside = true;
#pragma unroll
    for (int d = 0; d < kDims; ++d) {
        is_inside = is_inside &&
                    static_cast<Index>(n.at[d] + k.at[d]) < static_cast<Index>(axes.of[d].length);
    }
    return is_inside;
}

}  // namespace chainerx::cuda
