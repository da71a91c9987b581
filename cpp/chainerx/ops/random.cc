#include "chainerx/ops/random.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "chainerx/core/error.h"
#include "chainerx/kernels/random.h"

namespace chainerx::random {
namespace {

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

void Seed(uint64_t seed) { SetState({seed, 0}); }

State GetState() { return Generator::Default().GetState(); }

void SetState(const State& state) { Generator::Default().SetState(state); }

Array Normal(double loc, double scale, const Shape& shape, Dtype dtype, Device& device,
             const Source& source) {
    CheckFinite("normal", "loc", loc);
    CheckFinite("normal", "scale", scale);
    if (scale < 0) throw ValueError{"normal: scale is ", scale, ", expected at least 0"};
    Array out = MakeFloats("normal", shape, dtype, device);
    CallOn<kernels::RandomNormal>(device, source.StateOn(device), loc, scale, out);
    return out;
}

Array Uniform(double low, double high, const Shape& shape, Dtype dtype, Device& device,
              const Source& source) {
    CheckFinite("uniform", "low", low);
    CheckFinite("uniform", "high", high);
    CheckFinite("uniform", "high - low", high - low);
    Array out = MakeFloats("uniform", shape, dtype, device);
    CallOn<kernels::RandomUniform>(device, source.StateOn(device), low, high, out);
    return out;
}

Array Integers(int64_t low, int64_t high, const Shape& shape, Dtype dtype, Device& device,
               const Source& source) {
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
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    CallOn<kernels::RandomIntegers>(device, source.StateOn(device), low, range, out);
    return out;
}

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

}  // namespace chainerx::random
