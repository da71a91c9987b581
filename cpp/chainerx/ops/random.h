// Random arrays. One generator per process: the same seed gives the same numbers on any device and
// any number of threads. Threads may draw at the same time, then in no fixed order.
//
// It lives in the memory of the device that drew last, and the kernels there count: a step of
// kernel calls that is recorded and run again draws new numbers, as if it had been called again.
// Drawing on another device, and asking for the state, wait for that device.
#pragma once

#include <cstdint>
#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"

namespace chainerx::random {

struct State {
    uint64_t seed;
    uint64_t call;  // draws since the seed was set
};

// At first from the entropy of the system.
CX_API void Seed(uint64_t seed);
CX_API uint64_t MakeSeed();
CX_API State GetState();
CX_API void SetState(const State& state);

// float16, bfloat16, float32 or float64. With a key, the numbers depend on it alone: neither the
// generator's state counts, nor does it change.
CX_API Array Normal(double loc, double scale, const Shape& shape, Dtype dtype = Dtype::kFloat64,
                    Device& device = GetDefaultDevice(), std::optional<uint64_t> key = {});
// low <= x < high.
CX_API Array Uniform(double low, double high, const Shape& shape, Dtype dtype = Dtype::kFloat64,
                     Device& device = GetDefaultDevice(), std::optional<uint64_t> key = {});
// low <= x < high, of an integer dtype that holds both ends.
CX_API Array Integers(int64_t low, int64_t high, const Shape& shape, Dtype dtype = Dtype::kInt64,
                      Device& device = GetDefaultDevice());
// 0 ... n-1 in random order, int64.
CX_API Array Permutation(int64_t n, Device& device = GetDefaultDevice());

// Where one draw of the generator would take its numbers from, in the memory of a device: for what
// makes the same numbers again. With a key, its place.
CX_API Array DrawKey(Device& device, std::optional<uint64_t> key = {});

}  // namespace chainerx::random
