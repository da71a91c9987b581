// Long sums are cut into pieces, so that there are blocks for the whole device. The block that
// comes last adds the sums of the pieces in order: results are the same in each run.
#pragma once

#include <cstdint>

#include "chainerx/cuda/device/block.h"

namespace chainerx::cuda {

// A piece of [0, n).
struct PieceRange {
    int64_t begin;
    int64_t end;

    PieceRange(int64_t n, int64_t length, int64_t piece) {
        begin = piece * length < n ? piece * length : n;
        end = begin + length < n ? begin + length : n;
    }
};

// The sum of element i, of which there are n in each piece.
template <typename C>
inline C SumPieces(const Ptr<char>& parts, int64_t pieces, int64_t n, int64_t i) {
    const C* of = At<const C>(parts) + i;
    C sum = of[0];
    for (int64_t piece = 1; piece < pieces; ++piece) {
        sum = static_cast<C>(sum + of[piece * n]);
    }
    return sum;
}

}  // namespace chainerx::cuda
