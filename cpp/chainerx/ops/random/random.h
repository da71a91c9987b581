// The default generator, orders, and keys. Distributions are in ops/random/random_distributions.h,
// where the numbers come from in ops/random/random_generator.h.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/random/random_generator.h"

namespace chainerx::random {

// Of the default generator.
CX_API void Seed(uint64_t seed);
CX_API State GetState();
CX_API void SetState(const State& state);

// 0 ... n-1 in random order, int64.
CX_API Array Permutation(int64_t n, Device& device = GetDefaultDevice(), const Source& source = {});

// Where one draw would take its numbers from, in the memory of a device: for what makes the same
// numbers again.
CX_API Array DrawKey(Device& device, const Source& source = {});

// Uniform(0, 1) of a real float dtype, for callers that have no options to be looked at.
CX_API Array UnitNumbers(const Shape& shape, Dtype dtype, Device& device, const Source& source);

}  // namespace chainerx::random
