// Reductions with all of NumPy's options:
//
//     Sum(x, Axes{0}, {.dtype = Dtype::kFloat64, .where = &mask});
//
// `where`, of bool, broadcasts to the shape of x: elements at which it is false are ignored.
#pragma once

#include <optional>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/ops/reduce/reduction.h"

namespace chainerx {

struct TotalOptions {
    bool keepdims{false};
    std::optional<Dtype> dtype{};     // of the computation and the result
    std::optional<Scalar> initial{};  // initial value
    const Array* where{nullptr};
};
CX_API Array Sum(const Array& x, const OptionalAxes& axes, const TotalOptions& options);
CX_API Array Prod(const Array& x, const OptionalAxes& axes, const TotalOptions& options);
// NaN counts as 0; as 1.
CX_API Array NanSum(const Array& x, const OptionalAxes& axes, const TotalOptions& options);
CX_API Array NanProd(const Array& x, const OptionalAxes& axes, const TotalOptions& options);

struct ExtremeOptions {
    bool keepdims{false};
    std::optional<Scalar> initial{};  // another candidate; needed with `where`
    const Array* where{nullptr};
};
CX_API Array AMax(const Array& x, const OptionalAxes& axes, const ExtremeOptions& options);
CX_API Array AMin(const Array& x, const OptionalAxes& axes, const ExtremeOptions& options);
// Ignores NaN; returns NaN if there is nothing else.
CX_API Array NanMax(const Array& x, const OptionalAxes& axes, const ExtremeOptions& options);
CX_API Array NanMin(const Array& x, const OptionalAxes& axes, const ExtremeOptions& options);

struct MeanOptions {
    bool keepdims{false};
    std::optional<Dtype> dtype{};  // a float or complex dtype
    const Array* where{nullptr};
};
CX_API Array Mean(const Array& x, const OptionalAxes& axes, const MeanOptions& options);
CX_API Array NanMean(const Array& x, const OptionalAxes& axes, const MeanOptions& options);

struct SpreadOptions {
    bool keepdims{false};
    std::optional<Dtype> dtype{};  // a float or complex dtype
    const Array* where{nullptr};
    double correction{0};        // subtracted from the count
    const Array* mean{nullptr};  // as Mean() with keepdims returns it
};
CX_API Array Var(const Array& x, const OptionalAxes& axes, const SpreadOptions& options);
CX_API Array Std(const Array& x, const OptionalAxes& axes, const SpreadOptions& options);
CX_API Array NanVar(const Array& x, const OptionalAxes& axes, const SpreadOptions& options);
CX_API Array NanStd(const Array& x, const OptionalAxes& axes, const SpreadOptions& options);

#define CX_WITHOUT_OPTIONS(Name, Options)                                      \
    inline Array Name(const Array& x, const OptionalAxes& axes = std::nullopt, \
                      bool keepdims = false) {                                 \
        return Name(x, axes, Options{.keepdims = keepdims});                   \
    }
CX_WITHOUT_OPTIONS(NanProd, TotalOptions)
CX_WITHOUT_OPTIONS(NanMax, ExtremeOptions)
CX_WITHOUT_OPTIONS(NanMin, ExtremeOptions)
CX_WITHOUT_OPTIONS(NanMean, MeanOptions)
CX_WITHOUT_OPTIONS(NanVar, SpreadOptions)
CX_WITHOUT_OPTIONS(NanStd, SpreadOptions)
#undef CX_WITHOUT_OPTIONS

struct TruthOptions {
    bool keepdims{false};
    const Array* where{nullptr};
};
CX_API Array All(const Array& x, const OptionalAxes& axes, const TruthOptions& options);
CX_API Array Any(const Array& x, const OptionalAxes& axes, const TruthOptions& options);

// Cumulative sums in a dtype.
CX_API Array CumSum(const Array& x, std::optional<int8_t> axis, Dtype dtype);
CX_API Array CumProd(const Array& x, std::optional<int8_t> axis, Dtype dtype);
// NaN counts as 0; as 1.
CX_API Array NanCumSum(const Array& x, std::optional<int8_t> axis = std::nullopt,
                       std::optional<Dtype> dtype = std::nullopt);
CX_API Array NanCumProd(const Array& x, std::optional<int8_t> axis = std::nullopt,
                        std::optional<Dtype> dtype = std::nullopt);

// Returns an index or a count, with the reduced axes as axes of length 1.
CX_API Array ArgMax(const Array& x, std::optional<int8_t> axis, bool keepdims);
CX_API Array ArgMin(const Array& x, std::optional<int8_t> axis, bool keepdims);
CX_API Array NanArgMax(const Array& x, std::optional<int8_t> axis, bool keepdims);
CX_API Array NanArgMin(const Array& x, std::optional<int8_t> axis, bool keepdims);
CX_API Array CountNonzero(const Array& x, const OptionalAxes& axes, bool keepdims);

// Returns the difference of the largest and the smallest element.
CX_API Array Ptp(const Array& x, const OptionalAxes& axes = std::nullopt, bool keepdims = false);

}  // namespace chainerx
