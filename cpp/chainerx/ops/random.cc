#include "chainerx/ops/random.h"

#include <cmath>
#include <string>
#include <utility>

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

namespace {

// The bits of an integer, as of its place on the circle of 2^64.
uint64_t BitsOf(const Scalar& x) {
    return x.kind() == DtypeKind::kUInt ? x.To<uint64_t>() : static_cast<uint64_t>(x.To<int64_t>());
}

bool IsBelow(const Scalar& x, const Scalar& y) {
    const bool x_is_unsigned = x.kind() == DtypeKind::kUInt;
    if (y.kind() == DtypeKind::kUInt) {
        return x_is_unsigned ? x.To<uint64_t>() < y.To<uint64_t>()
                             : std::cmp_less(x.To<int64_t>(), y.To<uint64_t>());
    }
    return x_is_unsigned ? std::cmp_less(x.To<uint64_t>(), y.To<int64_t>())
                         : x.To<int64_t>() < y.To<int64_t>();
}

// From low to last; `end` is what the user said of it.
Array DrawIntegers(const Scalar& low, const Scalar& last, const std::string& end,
                   const Shape& shape, Dtype dtype, Device& device, const Source& source) {
    if (!IsInt(dtype)) {
        throw DtypeError{"integers: dtype is ", GetDtypeName(dtype), ", expected an integer dtype"};
    }
    if (!low.Fits(dtype) || !last.Fits(dtype)) {
        throw ValueError{"integers: low is ", low.ToString(),      " and ", end,
                         ", beyond what ",    GetDtypeName(dtype), " holds"};
    }
    CheckedNBytes("integers", shape, GetItemSize(dtype));
    Array out = EmptyUnchecked(shape, dtype, device);
    CallOn<kernels::RandomIntegers>(device, source.StateOn(device),
                                    static_cast<int64_t>(BitsOf(low)),
                                    BitsOf(last) - BitsOf(low) + 1, out);
    return out;
}

}  // namespace

Array Integers(int64_t low, int64_t high, const Shape& shape, Dtype dtype, Device& device,
               const Source& source) {
    if (low >= high) {
        throw ValueError{"integers: low is ", low, " and high is ", high, ", expected low < high"};
    }
    return DrawIntegers(low, high - 1, StrCat("high is ", high), shape, dtype, device, source);
}

Array IntegersUpTo(const Scalar& low, const Scalar& last, const Shape& shape, Dtype dtype,
                   Device& device, const Source& source) {
    for (const Scalar& x : {low, last}) {
        if (x.IsHugeInt() || (x.kind() != DtypeKind::kInt && x.kind() != DtypeKind::kUInt)) {
            throw ValueError{"integers: an end of the range is ", x.ToString(),
                             ", expected an integer of 64 bits"};
        }
    }
    if (IsBelow(last, low)) {
        throw ValueError{"integers: low is ", low.ToString(), " and the last number ",
                         last.ToString(), ", expected no less"};
    }
    return DrawIntegers(low, last, StrCat("the last number ", last.ToString()), shape, dtype,
                        device, source);
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
