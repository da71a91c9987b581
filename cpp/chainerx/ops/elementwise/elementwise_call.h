// Shared by all calls of elementwise kernels: the dtype in which operands compute, their conversion
// to it, the call itself. Not for users.
#pragma once

#include <span>

#include "chainerx/core/array.h"
#include "chainerx/ops/elementwise/elementwise.h"

namespace chainerx::internal {

inline constexpr int kNumRules = static_cast<int>(DtypeRule::kAny) + 1;
inline constexpr int8_t kRefused = -1;

// Maps each rule and dtype to the dtype in which operands compute, or to kRefused.
struct ComputeTable {
    int8_t dtypes[kNumRules][kNumDtypes]{};

    constexpr ComputeTable() {
        for (int r = 0; r < kNumRules; ++r) {
            for (int d = 0; d < kNumDtypes; ++d) {
                dtypes[r][d] = ComputeDtype(static_cast<DtypeRule>(r), static_cast<Dtype>(d));
            }
        }
    }

 private:
    static constexpr int8_t ComputeDtype(DtypeRule rule, Dtype dtype) {
        if (ComputesIn(rule, dtype)) return static_cast<int8_t>(dtype);
        const bool to_float =
            (IsInt(dtype) && (rule == DtypeRule::kDivide || rule == DtypeRule::kFloat ||
                              rule == DtypeRule::kInexact)) ||
            (IsBool(dtype) && (rule == DtypeRule::kFloat || rule == DtypeRule::kInexact));
        return to_float ? static_cast<int8_t>(kDefaultFloat) : kRefused;
    }
};
inline constexpr ComputeTable kComputeTable;

inline int8_t ComputeDtypeOrRefused(const ElementwiseOp& op, Dtype dtype) {
    return kComputeTable.dtypes[static_cast<int>(op.rule)][static_cast<int>(dtype)];
}

// Returns whether operands of `dtype` need no conversion.
inline bool IsComputedIn(const ElementwiseOp& op, Dtype dtype) {
    return ComputeDtypeOrRefused(op, dtype) == static_cast<int8_t>(dtype);
}

[[noreturn]] CX_COLD void ThrowDtype(const ElementwiseOp& op, const char* name, Dtype dtype);

// Returns the dtype in which the operand `name` of `dtype` computes; DtypeError if there is none.
inline Dtype Lookup(const ElementwiseOp& op, const char* name, Dtype dtype) {
    const int8_t d = ComputeDtypeOrRefused(op, dtype);
    if (d == kRefused) [[unlikely]]
        ThrowDtype(op, name, dtype);
    return static_cast<Dtype>(d);
}

// Returns the dtype in which two arrays compute, and in which an array and a weak scalar do. `name`
// is the array's, "x1" or "x2".
Dtype Promoted(const ElementwiseOp& op, Dtype d1, Dtype d2);
Dtype Promoted(const ElementwiseOp& op, const char* name, Dtype dtype, const Scalar& scalar);

struct Named {
    const char* name;
    const Operand& x;

    Dtype dtype() const { return x.is_array() ? x.array().dtype() : x.scalar().dtype(); }
    bool IsBoolean() const {
        return x.is_array() ? IsBool(dtype()) : x.scalar().kind() == DtypeKind::kBool;
    }
};
// The same for any number of operands.
Dtype PromotedOf(const ElementwiseOp& op, std::span<const Named> operands);

// Returns whether the operation depends only on whether operands are 0.
bool IsLogical(const ElementwiseOp& op);

// Returns `x` itself, or a converted copy that `holder` keeps.
const Array& As(const Array& x, Dtype dtype, Array& holder);
// The same for the second operand, which may be the count of a shift.
const Array& AsSecond(const ElementwiseOp& op, const Array& x2, Dtype dtype, Array& holder);

inline void CallKernelOf(const ElementwiseOp& op, const Array& x, const Array& y) {
    CallKernel<void(const Array&, const Array&)>(*op.kernel, y.device(), x, y);
}
inline void CallKernelOf(const ElementwiseOp& op, const Operand& x1, const Operand& x2,
                         const Array& y) {
    CallKernel<void(const Operand&, const Operand&, const Array&)>(*op.kernel, y.device(), x1, x2,
                                                                   y);
}
inline void CallKernelOf(const ElementwiseOp& op, const Operand& x1, const Operand& x2,
                         const Operand& x3, const Array& y) {
    CallKernel<void(const Operand&, const Operand&, const Operand&, const Array&)>(
        *op.kernel, y.device(), x1, x2, x3, y);
}

}  // namespace chainerx::internal
