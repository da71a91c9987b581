#include "chainerx/ops/random/random.h"

#include "chainerx/kernels/random/random.h"

namespace chainerx::random {

void Seed(uint64_t seed) { SetState({seed, 0}); }

State GetState() { return Generator::Default().GetState(); }

void SetState(const State& state) { Generator::Default().SetState(state); }

Array Permutation(int64_t n, Device& device, const Source& source) {
    CheckedNBytes("permutation", Shape{n}, sizeof(int64_t));
    Array out = EmptyUnchecked(Shape{n}, Dtype::kInt64, device);
    CallOn<kernels::RandomPermutation>(device, source.StateOn(device), out);
    return out;
}

Array DrawKey(Device& device, const Source& source) {
    if (source.is_key()) return source.StateOn(device);
    Array drawn = EmptyUnchecked({2}, Dtype::kUInt64, device);
    CallOn<kernels::RandomKey>(device, source.StateOn(device), drawn);
    return drawn;
}

Array UnitNumbers(const Shape& shape, Dtype dtype, Device& device, const Source& source) {
    Array out = EmptyUnchecked(shape, dtype, device);
    CallOn<kernels::RandomUniform>(device, source.StateOn(device), 0.0, 1.0, out);
    return out;
}

}  // namespace chainerx::random
