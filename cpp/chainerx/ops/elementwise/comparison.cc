#include "chainerx/ops/elementwise/comparison.h"

#include "chainerx/kernels/elementwise/logic.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

// Returns whether a float of at most the same size would round the dtype's numbers.
bool NeedsDouble(Dtype dtype) {
    return dtype == Dtype::kFloat64 || dtype == Dtype::kComplex128 ||
           (IsInt(dtype) && GetItemSize(dtype) >= 4);
}

// Returns the result of comparing a negative number with a nonnegative one; `left`: the negative
// number is the left operand.
bool IsTrueOfNegative(const KernelInfo* kernel, bool left) {
    if (kernel == &kernels::Equal::kInfo) return false;
    if (kernel == &kernels::NotEqual::kInfo) return true;
    const bool less = kernel == &kernels::Less::kInfo || kernel == &kernels::LessEqual::kInfo;
    return less == left;
}

}  // namespace

Dtype ComparisonDtype(Dtype dtype1, Dtype dtype2) {
    if (IsComplex(dtype1) || IsComplex(dtype2)) {
        const bool wide = NeedsDouble(dtype1) || NeedsDouble(dtype2);
        return wide ? Dtype::kComplex128 : Dtype::kComplex64;
    }
    if (IsFloat(dtype1) == IsFloat(dtype2)) return PromoteTypes(dtype1, dtype2);
    const Dtype integer = IsFloat(dtype1) ? dtype2 : dtype1;
    const Dtype floating = IsFloat(dtype1) ? dtype1 : dtype2;
    if (NeedsDouble(integer)) return Dtype::kFloat64;
    // 16-bit floats represent all 8-bit integers exactly.
    return GetItemSize(integer) == 1 ? floating : PromoteTypes(floating, Dtype::kFloat32);
}

Dtype ComparisonDtype(Dtype dtype, const Scalar& scalar) {
    const bool whole = IsBool(dtype) || IsInt(dtype);
    switch (scalar.kind()) {
        case DtypeKind::kBool:
            return dtype;
        case DtypeKind::kFloat:
            return whole ? Dtype::kFloat64 : dtype;
        case DtypeKind::kComplex:
            if (IsComplex(dtype)) return dtype;
            return whole || dtype == Dtype::kFloat64 ? Dtype::kComplex128 : Dtype::kComplex64;
        default:
            return IsBool(dtype) ? Dtype::kInt64 : dtype;
    }
}

Array CompareWithUInt64(const ElementwiseOp& op, const Array& x1, const Array& x2) {
    const bool left = x1.dtype() != Dtype::kUInt64;
    const Array y = CallBinary(op, AsType(x1, Dtype::kUInt64), AsType(x2, Dtype::kUInt64));
    const Array negative = Less(left ? x1 : x2, Scalar{0});
    if (IsTrueOfNegative(op.kernel, left)) return LogicalOr(y, negative);
    return LogicalAnd(y, LogicalNot(negative));
}

}  // namespace chainerx::internal
