// Uniform integers.
#include <string>

#include "chainerx/core/error.h"
#include "chainerx/kernels/random/random.h"
#include "chainerx/ops/random/random_plan.h"

namespace chainerx::random {
namespace {

// Returns the bits of an integer modulo 2^64.
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

// Draws from low to last; `end` is the user's form of it, for errors.
Array DrawIntegers(const Scalar& low, const Scalar& last, const std::string& end,
                   const Options& options) {
    const Shape shape = options.size.value_or(Shape{});
    const Dtype dtype = options.dtype.value_or(Dtype::kInt64);
    Device& device = options.device != nullptr ? *options.device : GetDefaultDevice();
    if (!IsInt(dtype)) {
        throw DtypeError{"integers: dtype is ", GetDtypeName(dtype), ", expected an integer dtype"};
    }
    if (!low.Fits(dtype) || !last.Fits(dtype)) {
        throw ValueError{"integers: low is ", low.ToString(),      " and ", end,
                         ", beyond what ",    GetDtypeName(dtype), " holds"};
    }
    CheckedNBytes("integers", shape, GetItemSize(dtype));
    Array out = EmptyUnchecked(shape, dtype, device);
    CallOn<kernels::RandomIntegers>(device, options.source.StateOn(device),
                                    static_cast<int64_t>(BitsOf(low)),
                                    BitsOf(last) - BitsOf(low) + 1, out);
    return out;
}

void CheckInts(const char* name, const Array& x) {
    CheckDtype(IsInt(x.dtype()), "integers", name, x.dtype(), "an integer one");
}

Array IntegersBetween(const Array& low, const Array& high, const Options& options, bool closed) {
    constexpr const char* kOp = "integers";
    CheckInts("low", low);
    CheckInts("high", high);
    const Parameter first{low};
    const Parameter last{high};
    const Plan plan{
        kOp, {{"low", first, kAnyFinite}, {"high", last, kAnyFinite}}, options, Kind::kCounts};
    if (!IsInt(plan.dtype())) {
        throw DtypeError{kOp, ": dtype is ", GetDtypeName(plan.dtype()),
                         ", expected an integer dtype"};
    }
    const auto spread = [&plan](int i, const Array& x) {
        return plan.GetSpread(i, x.dtype() == Dtype::kUInt64 ? Dtype::kUInt64 : Dtype::kInt64);
    };
    Array out = EmptyUnchecked(plan.shape(), plan.dtype(), plan.device());
    CallOn<kernels::RandomBetween>(plan.device(), plan.state(), spread(0, low), spread(1, high),
                                   closed, out);
    return out;
}

}  // namespace

Array Integers(int64_t low, int64_t high, const Options& options) {
    if (low >= high) {
        throw ValueError{"integers: low is ", low, " and high is ", high, ", expected low < high"};
    }
    return DrawIntegers(low, high - 1, StrCat("high is ", high), options);
}

Array IntegersUpTo(const Scalar& low, const Scalar& last, const Options& options) {
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
    return DrawIntegers(low, last, StrCat("the last number ", last.ToString()), options);
}

Array Integers(const Array& low, const Array& high, const Options& options) {
    return IntegersBetween(low, high, options, false);
}
Array IntegersUpTo(const Array& low, const Array& last, const Options& options) {
    return IntegersBetween(low, last, options, true);
}

}  // namespace chainerx::random
