// Reductions with a cast, a mask and so on: compositions, whose gradients follow.
#include "chainerx/ops/reduce/reduction_options.h"

#include <algorithm>
#include <cmath>

#include "chainerx/ops/elementwise/complex_parts.h"
#include "chainerx/ops/elementwise/tables/explog.h"
#include "chainerx/ops/reduce/reduce_output.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using internal::Detached;
using internal::WideDtype;

// Returns 0 or 1 as a scalar of the category of the dtype.
Scalar NumberOf(Dtype dtype, int number) {
    return IsBool(dtype) ? Scalar{number != 0} : Scalar{number};
}

// If it broadcast with `x` to a larger shape, so would the result.
void CheckBroadcasts(const char* op, const char* name, const Array& option, const Array& x) {
    if (IsBroadcastable(option.shape(), x.shape())) return;
    throw DimensionError{op,           ": ",           name,
                         " of shape ", option.shape(), " does not broadcast to ",
                         x.shape(),    " of a"};
}

void CheckMask(const char* op, const Array& x, const Array& where) {
    CheckDtype(IsBool(where.dtype()), op, "where", where.dtype(), "bool");
    CheckBroadcasts(op, "where", where, x);
}

// Returns `x` with `fill` where the mask is false.
Array Masked(const char* op, const Array& x, const Array* where, const Scalar& fill) {
    if (where == nullptr) return x;
    CheckMask(op, x, *where);
    return Where(*where, x, fill);
}

// Checks that the initial value does not change the dtype of the result.
void CheckInitial(const char* op, Dtype dtype, const Scalar& initial) {
    if (GetCategory(initial.kind()) > std::max(GetCategory(dtype), DtypeCategory::kInt)) {
        std::string text = StrCat(initial);
        if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
        throw DtypeError{op,
                         ": initial is ",
                         text,
                         IsComplex(initial.dtype()) ? ", a complex number" : ", a float",
                         ", which does not go into the result, of ",
                         dtype};
    }
    internal::CheckIntFits(op, dtype, initial);
}

// Returns a number after checking that it fits the dtype.
Scalar CheckedInitial(const char* op, Dtype dtype, const Scalar& initial) {
    CheckInitial(op, dtype, initial);
    return IsBool(dtype) ? Scalar{initial.To<bool>()} : initial;
}

Array NotNan(const Array& x) { return LogicalNot(Isnan(Detached(x))); }

// Returns a mask that also excludes NaN.
Array NotNan(const char* op, const Array& x, const Array* where) {
    if (where == nullptr) return NotNan(x);
    CheckMask(op, x, *where);
    return LogicalAnd(NotNan(x), *where);
}

// Converts `x` to the requested dtype. Imaginary parts are not dropped silently.
Array InDtype(const char* op, const Array& x, Dtype dtype) {
    if (IsComplex(x.dtype()) && !IsComplex(dtype)) {
        throw DtypeError{op, ": dtype is ", dtype, ", expected a complex one for a, which is ",
                         x.dtype()};
    }
    return AsType(x, dtype, false);
}

// ---- totals -------------------------------------------------------------------------------------

// Returns whether narrower floats are summed in float64.
bool IsWideSum(const Array& x, const std::optional<Dtype>& dtype) {
    return dtype == Dtype::kFloat64 && IsFloat(x.dtype());
}

Array Total(const char* op, const Array& x, const TotalOptions& o, int identity,
            const auto& reduce) {
    const Array cast = o.dtype ? InDtype(op, x, *o.dtype) : x;
    Array y = reduce(Masked(op, cast, o.where, NumberOf(cast.dtype(), identity)));
    if (o.initial) {
        CheckInitial(op, o.dtype.value_or(y.dtype()), *o.initial);
        const Scalar initial =
            o.initial->kind() == DtypeKind::kBool ? Scalar{o.initial->To<int64_t>()} : *o.initial;
        y = identity == 0 ? y + initial : y * initial;
    }
    return o.dtype ? AsType(y, *o.dtype, false) : y;
}

}  // namespace

Array Sum(const Array& x, const OptionalAxes& axes, const TotalOptions& options) {
    if (IsWideSum(x, options.dtype) && options.where == nullptr && !options.initial) {
        return internal::WideSum(x, axes, options.keepdims);
    }
    return Total("sum", x, options, 0,
                 [&](const Array& a) { return Sum(a, axes, options.keepdims); });
}
Array Prod(const Array& x, const OptionalAxes& axes, const TotalOptions& options) {
    return Total("prod", x, options, 1,
                 [&](const Array& a) { return Prod(a, axes, options.keepdims); });
}
Array NanSum(const Array& x, const OptionalAxes& axes, const TotalOptions& options) {
    return Total("nansum", x, options, 0,
                 [&](const Array& a) { return NanSum(a, axes, options.keepdims); });
}
Array NanProd(const Array& x, const OptionalAxes& axes, const TotalOptions& options) {
    return Total("nanprod", x, options, 1, [&](const Array& a) {
        return Prod(IsDifferentiable(a.dtype()) ? Where(Isnan(Detached(a)), 1, a) : a, axes,
                    options.keepdims);
    });
}

// ---- extremes -----------------------------------------------------------------------------------

namespace {

Array Extreme(const char* op, const Array& x, const OptionalAxes& axes, const ExtremeOptions& o,
              const auto& reduce, const auto& choose) {
    if (!o.initial) {
        if (o.where != nullptr) {
            throw ValueError{op,
                             ": where needs an initial value, since all elements may be left out"};
        }
        return reduce(x, axes, o.keepdims);
    }
    const Scalar initial = CheckedInitial(op, x.dtype(), *o.initial);
    const Axes sorted = internal::ReducedAxes(op, axes, x.ndim());
    const Array a = Masked(op, x, o.where, initial);
    if (internal::CountReduced(x.shape(), sorted) == 0) {
        return Full(ReduceShape(x.shape(), sorted, o.keepdims), initial, x.dtype(), x.device());
    }
    return choose(reduce(a, sorted, o.keepdims), initial);
}

Array PlainNanMax(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return IsFloat(x.dtype()) ? internal::MaxNumber(x, axes, keepdims) : AMax(x, axes, keepdims);
}
Array PlainNanMin(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return IsFloat(x.dtype()) ? internal::MinNumber(x, axes, keepdims) : AMin(x, axes, keepdims);
}

// Returns the larger of two numbers, ignoring NaN.
Array LargerNumber(const Array& y, const Scalar& initial) {
    return Where(Isnan(Detached(y)), initial, Maximum(y, initial));
}
Array SmallerNumber(const Array& y, const Scalar& initial) {
    return Where(Isnan(Detached(y)), initial, Minimum(y, initial));
}

}  // namespace

#define CX_EXTREME(Name, op, plain, larger)                                                       \
    Array Name(const Array& x, const OptionalAxes& axes, const ExtremeOptions& options) {         \
        return Extreme(                                                                           \
            op, x, axes, options,                                                                 \
            [](const Array& a, const OptionalAxes& k, bool keeps) { return plain(a, k, keeps); }, \
            [](const Array& y, const Scalar& initial) { return larger(y, initial); });            \
    }
CX_EXTREME(AMax, "max", AMax, Maximum)
CX_EXTREME(AMin, "min", AMin, Minimum)
CX_EXTREME(NanMax, "nanmax", PlainNanMax, LargerNumber)
CX_EXTREME(NanMin, "nanmin", PlainNanMin, SmallerNumber)
#undef CX_EXTREME

Array Ptp(const Array& x, const OptionalAxes& axes, bool keepdims) {
    return AMax(x, axes, keepdims) - AMin(x, axes, keepdims);
}

// ---- means --------------------------------------------------------------------------------------

namespace {

// Returns the requested dtype, or that of means of `x`.
Dtype MeanDtype(const char* op, const Array& x, const std::optional<Dtype>& dtype) {
    if (dtype && !IsDifferentiable(*dtype)) {
        throw DtypeError{op, ": dtype is ", *dtype, ", expected a float or complex dtype"};
    }
    return dtype.value_or(FloatResult(x.dtype()));
}

// Converts `x` to the requested dtype, or to the one in which its means are computed: for integers
// one that holds all digits that matter in a sum.
Array InMeanDtype(const char* op, const Array& x, const std::optional<Dtype>& dtype) {
    const Dtype result = MeanDtype(op, x, dtype);
    return InDtype(op, x, dtype || IsDifferentiable(x.dtype()) ? result : Dtype::kFloat64);
}

// Counts the unmasked elements, in a dtype in which sums of `x` are divided.
Array CountOf(const Array& mask, const Array& x, const Axes& axes, bool keepdims) {
    const Array count = CountNonzero(BroadcastTo(mask, x.shape()), axes, keepdims);
    return AsType(count, RealDtype(WideDtype(x.dtype())));
}

// Returns the mean of unmasked elements of `x`. A wide result stays wide.
Array MaskedMean(const Array& x, const Array& mask, const Axes& axes, bool keepdims) {
    const Array wide = AsType(x, WideDtype(x.dtype()), false);
    return Sum(Where(mask, wide, 0), axes, keepdims) / CountOf(mask, x, axes, keepdims);
}

Array SquaredAbsolute(const Array& x) {
    return IsComplex(x.dtype()) ? Square(Real(x)) + Square(Imag(x)) : Square(x);
}

// Computes the variance by its definition if the kernel does not apply: with a mask, or around a
// given mean. `needs_freedom`: NaN, not infinity, if no degrees of freedom are left.
Array MaskedVar(const Array& x, const Array& mask, const Axes& axes, const SpreadOptions& o,
                bool needs_freedom) {
    const Array wide = Where(mask, AsType(x, WideDtype(x.dtype()), false), 0);
    const Array mean = o.mean != nullptr ? *o.mean : MaskedMean(wide, mask, axes, true);
    const Array squares = Where(mask, SquaredAbsolute(wide - mean), 0);
    const Array count = CountOf(mask, x, axes, o.keepdims);
    const Array freedom = count - o.correction;
    const Array y = Sum(squares, axes, o.keepdims) / Maximum(freedom, 0);
    return needs_freedom ? Where(freedom > 0, y, NAN) : y;
}

// The derivative at 0 is defined as 0, as that of Std().
Array Root(const Array& x) {
    const Array is_zero = Detached(x) == Scalar{0};
    return Where(is_zero, 0, Sqrt(Where(is_zero, 1, x)));
}

Array Spread(const char* op, const Array& given, const OptionalAxes& axes, const SpreadOptions& o,
             bool skips_nan, bool is_root) {
    const Dtype dtype = RealDtype(MeanDtype(op, given, o.dtype));
    const Axes sorted = skips_nan ? internal::ReducedAxes(op, axes, given.ndim())
                                  : NormalizeAxes(op, axes, given.ndim());
    const auto n = static_cast<double>(internal::CountReduced(given.shape(), sorted));
    const bool is_plain = o.correction == 0 || n > 0;  // an empty array gives NaN
    // Integers have no NaN to skip.
    if (!IsDifferentiable(given.dtype())) skips_nan = false;
    if (o.where == nullptr && o.mean == nullptr && !skips_nan && is_plain) {
        const double ratio = n / std::max(n - o.correction, 0.0);
        const Array x = o.dtype ? InMeanDtype(op, given, o.dtype) : given;
        const Array y = is_root ? Std(x, sorted, o.keepdims) : Var(x, sorted, o.keepdims);
        return o.correction == 0 ? y : y * (is_root ? std::sqrt(ratio) : ratio);
    }
    const Array x = InMeanDtype(op, given, o.dtype);
    if (o.where != nullptr) CheckMask(op, x, *o.where);
    if (o.mean != nullptr) CheckBroadcasts(op, "mean", *o.mean, x);
    const Array mask = skips_nan            ? NotNan(op, x, o.where)
                       : o.where != nullptr ? *o.where
                                            : Ones(Shape{}, Dtype::kBool, x.device());
    const Array y = MaskedVar(x, mask, sorted, o, skips_nan);
    return AsType(is_root ? Root(y) : y, dtype, false);
}

}  // namespace

Array Mean(const Array& given, const OptionalAxes& axes, const MeanOptions& options) {
    if (options.where == nullptr) {
        if (IsWideSum(given, options.dtype)) {
            const Axes sorted = NormalizeAxes("mean", axes, given.ndim());
            return internal::WideSum(given, sorted, options.keepdims) /
                   static_cast<double>(internal::CountReduced(given.shape(), sorted));
        }
        return Mean(options.dtype ? InMeanDtype("mean", given, options.dtype) : given, axes,
                    options.keepdims);
    }
    const Array x = InMeanDtype("mean", given, options.dtype);
    CheckMask("mean", x, *options.where);
    const Axes sorted = NormalizeAxes("mean", axes, x.ndim());
    return AsType(MaskedMean(x, *options.where, sorted, options.keepdims),
                  MeanDtype("mean", given, options.dtype), false);
}

Array NanMean(const Array& given, const OptionalAxes& axes, const MeanOptions& options) {
    const Array x = InMeanDtype("nanmean", given, options.dtype);
    const Dtype dtype = MeanDtype("nanmean", given, options.dtype);
    const Axes sorted = internal::ReducedAxes("nanmean", axes, x.ndim());
    // Integers have no NaN.
    if (!IsDifferentiable(given.dtype()) && options.where == nullptr) {
        return Mean(given, sorted, options);
    }
    if (options.where != nullptr) {
        return AsType(MaskedMean(x, NotNan("nanmean", x, options.where), sorted, options.keepdims),
                      dtype, false);
    }
    const Array wide = AsType(x, WideDtype(x.dtype()), false);
    const Array missing = CountNonzero(Isnan(Detached(x)), sorted, options.keepdims);
    const Array count = internal::CountReduced(x.shape(), sorted) - missing;
    return AsType(NanSum(wide, sorted, options.keepdims) / AsType(count, RealDtype(wide.dtype())),
                  dtype, false);
}

#define CX_SPREAD(Name, op, skips_nan, is_root)                                          \
    Array Name(const Array& x, const OptionalAxes& axes, const SpreadOptions& options) { \
        return Spread(op, x, axes, options, skips_nan, is_root);                         \
    }
CX_SPREAD(Var, "var", false, false)
CX_SPREAD(Std, "std", false, true)
CX_SPREAD(NanVar, "nanvar", true, false)
CX_SPREAD(NanStd, "nanstd", true, true)
#undef CX_SPREAD

// ---- truth, positions, running totals -----------------------------------------------------------

namespace {

Array Truth(const char* op, const Array& x, const Array* where, bool fill) {
    return where == nullptr ? x : Masked(op, AsType(Detached(x), Dtype::kBool, false), where, fill);
}

Array Kept(const Array& x, std::optional<int8_t> axis, bool keepdims, const auto& position) {
    const Array y = position(x, axis);
    if (!keepdims) return y;
    const OptionalAxes axes = axis ? OptionalAxes{Axes{*axis}} : std::nullopt;
    return Reshape(y,
                   ReduceShape(x.shape(), internal::ReducedAxes("argmax", axes, x.ndim()), true));
}

Array WithoutNan(const Array& x, const Scalar& fill) {
    return IsDifferentiable(x.dtype()) ? Where(Isnan(Detached(x)), fill, x) : x;
}

}  // namespace

Array All(const Array& x, const OptionalAxes& axes, const TruthOptions& options) {
    return All(Truth("all", x, options.where, true), axes, options.keepdims);
}
Array Any(const Array& x, const OptionalAxes& axes, const TruthOptions& options) {
    return Any(Truth("any", x, options.where, false), axes, options.keepdims);
}

#define CX_POSITION(Name)                                                                \
    Array Name(const Array& x, std::optional<int8_t> axis, bool keepdims) {              \
        return Kept(x, axis, keepdims,                                                   \
                    [](const Array& a, std::optional<int8_t> k) { return Name(a, k); }); \
    }
CX_POSITION(ArgMax)
CX_POSITION(ArgMin)
CX_POSITION(NanArgMax)
CX_POSITION(NanArgMin)
#undef CX_POSITION

Array CountNonzero(const Array& x, const OptionalAxes& axes, bool keepdims) {
    const Array y = CountNonzero(x, axes);
    if (!keepdims) return y;
    const Axes sorted = internal::ReducedAxes("count_nonzero", axes, x.ndim());
    return Reshape(y, ReduceShape(x.shape(), sorted, true));
}

Array CumSum(const Array& x, std::optional<int8_t> axis, Dtype dtype) {
    return AsType(CumSum(InDtype("cumsum", x, dtype), axis), dtype, false);
}
Array CumProd(const Array& x, std::optional<int8_t> axis, Dtype dtype) {
    return AsType(CumProd(InDtype("cumprod", x, dtype), axis), dtype, false);
}
Array NanCumSum(const Array& x, std::optional<int8_t> axis, std::optional<Dtype> dtype) {
    const Array a = WithoutNan(x, 0);
    return dtype ? CumSum(a, axis, *dtype) : CumSum(a, axis);
}
Array NanCumProd(const Array& x, std::optional<int8_t> axis, std::optional<Dtype> dtype) {
    const Array a = WithoutNan(x, 1);
    return dtype ? CumProd(a, axis, *dtype) : CumProd(a, axis);
}

}  // namespace chainerx
