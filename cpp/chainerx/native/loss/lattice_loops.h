// Loops of CTC: exported by loss/simd/lattice.cc.
#pragma once

#include <cstdint>

#include "chainerx/native/unit.h"

namespace chainerx::native {

// Log-space alpha recursion (forward pass) of CTC: state s is entered from s, s - 1, and s - 2 if
// skip[s] is 0 and not -inf; the first step is in state 0 or 1. Rows of x (the score of each state
// in a step) and of y are `stride` apart. States begin at kLatticeLead; padding on both sides is
// -inf in x and skip, up to a multiple of kLatticeLanes after the lead.
inline constexpr int64_t kLatticeLead = 2;
inline constexpr int64_t kLatticeLanes = 16;
template <typename T>
struct LatticeLoops {
    // Fills rows begin, ..., end - 1 of y. Each row is normalized by the maximum of the row before,
    // cumulatively; returns the sum of the offsets of these rows.
    double (*weights)(const T* x, const T* skip, int64_t begin, int64_t end, int64_t stride, T* y);
};

using LatticeUnit = FloatLoops<LatticeLoops>;

const LatticeUnit& lattice_loops();

}  // namespace chainerx::native
