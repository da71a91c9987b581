// Random arrays: evenly and normally distributed numbers, integers, orders. Others are in
// ops/random_distributions.h, where the numbers come from in ops/random_generator.h.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/random_generator.h"

namespace chainerx::random {

// Of the default generator.
CX_API void Seed(uint64_t seed);
CX_API State GetState();
CX_API void SetState(const State& state);

// float16, bfloat16, float32 or float64.
CX_API Array Normal(double loc, double scale, const Shape& shape, Dtype dtype = Dtype::kFloat64,
                    Device& device = GetDefaultDevice(), const Source& source = {});
// low <= x < high.
CX_API Array Uniform(double low, double high, const Shape& shape, Dtype dtype = Dtype::kFloat64,
                     Device& device = GetDefaultDevice(), const Source& source = {});
// low <= x < high, of an integer dtype that holds both ends.
CX_API Array Integers(int64_t low, int64_t high, const Shape& shape, Dtype dtype = Dtype::kInt64,
                      Device& device = GetDefaultDevice(), const Source& source = {});
// low <= x <= last: up to the ends of 64 bits, signed or not.
CX_API Array IntegersUpTo(const Scalar& low, const Scalar& last, const Shape& shape,
                          Dtype dtype = Dtype::kInt64, Device& device = GetDefaultDevice(),
                          const Source& source = {});
// 0 ... n-1 in random order, int64.
CX_API Array Permutation(int64_t n, Device& device = GetDefaultDevice(), const Source& source = {});

// Where one draw would take its numbers from, in the memory of a device: for what makes the same
// numbers again.
CX_API Array DrawKey(Device& device, const Source& source = {});

}  // namespace chainerx::random
