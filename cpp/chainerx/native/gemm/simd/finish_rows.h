// Writes sums that a tile could not store in place, with the end of a layer.
#pragma once

#include <cstdint>

#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/gemm/simd/pack_transposed.h"
#include "chainerx/native/math/simd/math_basic.h"
#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// n_rows rows of n elements.
inline void FinishRows(const float* x, int64_t x_step, int64_t n_rows, int64_t n,
                       const TileEnd<float>& end, float* y, int64_t y_step) {
    constexpr auto kSize = static_cast<int64_t>(BatchF::size);
    const BatchF low(end.low);
    const BatchF high(end.high);
    for (int64_t i = 0; i < n_rows; ++i, x += x_step) {
        const BatchF bias(end.bias != nullptr ? end.bias[i] : 0.0F);
        for (int64_t j = 0; j < n; j += kSize) {
            const int64_t left = n - j;
            const int64_t at = i * y_step + j;
            const auto load = [left](const float* from) {
                return left < kSize ? LoadPart(from, left) : BatchF::load_unaligned(from);
            };
            BatchF sum = load(x + j);
            if (end.accumulate) {
                sum = load(y + at) + sum;
            } else {
                sum += bias;
            }
            if (end.addend != nullptr) sum += load(end.addend + at);
            sum = math::MinOrSecond(high, math::MaxOrSecond(low, sum));
            if (left < kSize) {
                StorePart(y + at, sum, left);
            } else {
                sum.store_unaligned(y + at);
            }
        }
    }
}

// The same of columns: element (i, j) of y is at x + j * x_step + i; n is at most kTo.
template <int kTo>
void FinishColumns(const float* x, int64_t x_step, int64_t n_rows, int64_t n,
                   const TileEnd<float>& end, float* y, int64_t y_step) {
    constexpr int64_t kTogether = 32;
    alignas(64) float block[kTogether * kTo];
    for (int64_t i = 0; i < n_rows; i += kTogether) {
        const int64_t count = n_rows - i < kTogether ? n_rows - i : kTogether;
        PackTransposed<kTo>(x + i, x_step, n, count, block);
        TileEnd<float> part = end;
        if (part.bias != nullptr) part.bias += i;
        if (part.addend != nullptr) part.addend += i * y_step;
        FinishRows(block, kTo, count, n, part, y + i * y_step, y_step);
    }
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
