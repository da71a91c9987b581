// The default generator, permutations and RNG keys. Distributions are in
// ops/random/random_distributions.h, generators in ops/random/random_generator.h.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/random/random_generator.h"

namespace chainerx::random {

// Seeds the default generator.
CX_API void Seed(uint64_t seed);
CX_API State GetState();
CX_API void SetState(const State& state);

// Returns 0 ... n-1 in random order, int64.
CX_API Array Permutation(int64_t n, Device& device = GetDefaultDevice(), const Source& source = {});

// Returns the RNG key of one draw, in the memory of a device, for routines that draw the same
// numbers again.
CX_API Array DrawKey(Device& device, const Source& source = {});

// Returns Uniform(0, 1) numbers of a real float dtype, without checks of options.
CX_API Array UnitNumbers(const Shape& shape, Dtype dtype, Device& device, const Source& source);

}  // namespace chainerx::random
