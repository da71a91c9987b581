#include "chainerx/ops/random.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <random>

#include "chainerx/core/error.h"
#include "chainerx/kernels/random.h"

namespace chainerx::random {
namespace {

std::atomic<uint64_t> g_seed{MakeSeed()};
std::atomic<uint64_t> g_call{0};

// The state for one draw, which advances the generator.
State Draw() { return {g_seed.load(), g_call.fetch_add(1)}; }
State Draw(std::optional<uint64_t> key) { return key ? State{*key, 0} : Draw(); }

Array MakeFloats(const char* op, const Shape& shape, Dtype dtype, Device& device) {
    if (!IsFloat(dtype)) {
        throw DtypeError{op, ": dtype is ", GetDtypeName(dtype), ", expected a real float dtype"};
    }
    CheckedNBytes(op, shape, GetItemSize(dtype));
    return EmptyUnchecked(shape, dtype, device);
}

void CheckFinite(const char* op, const char* name, double value) {
    if (!std::isfinite(value))
        throw ValueError{op, ": ", name, " is ", value, ", expected a finite number"};
}

}  // namespace

uint64_t MakeSeed() {
    std::random_device entropy;
    return static_cast<uint64_t>(entropy()) << 32 | entropy();
}

void Seed(uint64_t seed) { SetState({seed, 0}); }

State GetState() { return {g_seed.load(), g_call.load()}; }

void SetState(const State& state) {
    g_seed.store(state.seed);
    g_call.store(state.call);
}

Array Normal(double loc, double scale, const Shape& shape, Dtype dtype, Device& device,
             std::optional<uint64_t> key) {
    CheckFinite("normal", "loc", loc);
    CheckFinite("normal", "scale", scale);
    if (scale < 0) throw ValueError{"normal: scale is ", scale, ", expected at least 0"};
    Array out = MakeFloats("normal", shape, dtype, device);
    const State s = Draw(key);
    CallOn<kernels::RandomNormal>(device, s.seed, s.call, loc, scale, out);
    return out;
}

Array Uniform(double low, double high, const Shape& shape, Dtype dtype, Device& device,
              std::optional<uint64_t> key) {
    CheckFinite("uniform", "low", low);
    CheckFinite("uniform", "high", high);
    CheckFinite("uniform", "high - low", high - low);
    Array out = MakeFloats("uniform", shape, dtype, device);
    const State s = Draw(key);
    CallOn<kernels::RandomUniform>(device, s.seed, s.call, low, high, out);
    return out;
}

Array Integers(int64_t low, int64_t high, const Shape& shape, Dtype dtype, Device& device) {
    if (!IsInt(dtype)) {
        throw DtypeError{"integers: dtype is ", GetDtypeName(dtype), ", expected an integer dtype"};
    }
    if (low >= high) {
        throw ValueError{"integers: low is ", low, " and high is ", high, ", expected low < high"};
    }
    VisitInt(dtype, [&]<typename T>() {
        using Limits = std::numeric_limits<T>;
        const bool low_fits =
            std::is_signed_v<T> ? low >= static_cast<int64_t>(Limits::min()) : low >= 0;
        const bool high_fits =
            high - 1 < 0 || static_cast<uint64_t>(high - 1) <= static_cast<uint64_t>(Limits::max());
        if (!low_fits || !high_fits) {
            throw ValueError{"integers: low is ", low,     " and high is ", high, ", beyond what ",
                             GetDtypeName(dtype), " holds"};
        }
    });
    CheckedNBytes("integers", shape, GetItemSize(dtype));
    Array out = EmptyUnchecked(shape, dtype, device);
    const State s = Draw();
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    CallOn<kernels::RandomIntegers>(device, s.seed, s.call, low, range, out);
    return out;
}

Array Permutation(int64_t n, Device& device) {
    CheckedNBytes("permutation", Shape{n}, sizeof(int64_t));
    Array out = EmptyUnchecked(Shape{n}, Dtype::kInt64, device);
    const State s = Draw();
    CallOn<kernels::RandomPermutation>(device, s.seed, s.call, out);
    return out;
}

}  // namespace chainerx::random
