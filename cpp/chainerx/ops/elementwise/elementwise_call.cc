#include "chainerx/ops/elementwise/elementwise_call.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "chainerx/kernels/elementwise/arithmetic.h"
#include "chainerx/kernels/elementwise/logic.h"
#include "chainerx/ops/elementwise/comparison.h"
#include "chainerx/ops/routine.h"

namespace chainerx::internal {
namespace {

const char* Expected(DtypeRule rule) {
    switch (rule) {
        case DtypeRule::kNumeric:
        case DtypeRule::kDivide:
            return "a number (not bool)";
        case DtypeRule::kReal:
            return "a real number (neither bool nor complex)";
        case DtypeRule::kOrdered:
        case DtypeRule::kFloat:
            return "a real dtype (not complex)";
        case DtypeRule::kBits:
            return "bool or an integer";
        case DtypeRule::kShift:
            return "an integer";
        default:
            return "another dtype";
    }
}

[[noreturn]] CX_COLD void ThrowDtypes(const ElementwiseOp& op, const char* d1, const char* d2,
                                      const char* why) {
    throw DtypeError{op.name, ": x1 has dtype ", d1, ", x2 has dtype ", d2, ": ", why};
}

bool BoolMeetsBoolOnly(const ElementwiseOp& op) {
    return op.rule == DtypeRule::kOrdered || (op.rule == DtypeRule::kAny && !IsLogical(op));
}

// Clamps the counts of a shift to the narrower dtype: a huge count must not wrap to a small one,
// and all counts that are negative or at least the width give the same result.
CX_COLD Array ClampCount(const Array& x2) {
    const auto call = [](const KernelInfo& kernel, const Array& x, const Scalar& bound) {
        return CallBinary({{"shift", &kernel}, DtypeRule::kReal, false}, x, bound);
    };
    return call(kernels::Minimum::kInfo,
                GetKind(x2.dtype()) == DtypeKind::kUInt
                    ? Detached(x2)
                    : call(kernels::Maximum::kInfo, Detached(x2), -1),
                64);
}

}  // namespace

void ThrowDtype(const ElementwiseOp& op, const char* name, Dtype dtype) {
    // These two have separate kernels for complex numbers.
    const bool may_be_complex =
        op.kernel == &kernels::Absolute::kInfo || op.kernel == &kernels::Sign::kInfo;
    throw DtypeError{op.name,
                     ": ",
                     name,
                     " has dtype ",
                     GetDtypeName(dtype),
                     ", expected ",
                     Expected(may_be_complex ? DtypeRule::kNumeric : op.rule),
                     IsBool(dtype) ? "; cast it with astype()" : ""};
}

bool IsLogical(const ElementwiseOp& op) {
    constexpr const KernelInfo* kLogical[] = {
        &kernels::LogicalAnd::kInfo, &kernels::LogicalOr::kInfo, &kernels::LogicalXor::kInfo};
    return std::ranges::find(kLogical, op.kernel) != std::end(kLogical);
}

Dtype Promoted(const ElementwiseOp& op, Dtype d1, Dtype d2) {
    if (d1 == d2) return Lookup(op, "x1", d1);
    if (op.rule != DtypeRule::kMultiply) {
        if (IsBool(d1) != IsBool(d2) && BoolMeetsBoolOnly(op)) {
            ThrowDtypes(op, GetDtypeName(d1), GetDtypeName(d2), "bool goes with bool only");
        }
        Lookup(op, "x1", d1);
        Lookup(op, "x2", d2);
    }
    if (op.rule == DtypeRule::kShift && IsInt(PromoteTypes(d1, d2))) return d1;
    const Dtype promoted = op.to_bool ? ComparisonDtype(d1, d2) : PromoteTypes(d1, d2);
    if (ComputeDtypeOrRefused(op, promoted) == kRefused) {
        ThrowDtypes(op, GetDtypeName(d1), GetDtypeName(d2),
                    "no dtype of this operation holds both");
    }
    return Lookup(op, "x1", promoted);
}

Dtype Promoted(const ElementwiseOp& op, const char* name, Dtype dtype, const Scalar& scalar) {
    const Dtype d = Lookup(op, name, dtype);
    if (scalar.kind() == DtypeKind::kBool && !IsBool(dtype) && op.rule != DtypeRule::kMultiply &&
        op.rule != DtypeRule::kBits) {
        ThrowDtypes(op, name[1] == '1' ? GetDtypeName(dtype) : "bool (a scalar)",
                    name[1] == '1' ? "bool (a scalar)" : GetDtypeName(dtype),
                    "bool goes with bool only");
    }
    if (IsBool(dtype) && BoolMeetsBoolOnly(op) && scalar.kind() != DtypeKind::kBool) {
        const char* const number = scalar.kind() == DtypeKind::kComplex ? "complex (a scalar)"
                                   : scalar.kind() == DtypeKind::kFloat ? "float (a scalar)"
                                                                        : "int (a scalar)";
        ThrowDtypes(op, name[1] == '1' ? "bool" : number, name[1] == '1' ? number : "bool",
                    "bool goes with bool only");
    }
    if (op.rule == DtypeRule::kBits && IsBool(dtype) &&
        (scalar.kind() == DtypeKind::kInt || scalar.kind() == DtypeKind::kUInt)) {
        CheckIntFits(op.name, kDefaultInt, scalar);
        return kDefaultInt;
    }
    if (scalar.kind() < DtypeKind::kFloat) {
        if (IsInt(d)) CheckIntFits(op.name, d, scalar);
        return d;
    }
    const Dtype promoted = ResultType(dtype, scalar);
    return promoted == dtype ? d : Lookup(op, name[1] == '1' ? "x2" : "x1", promoted);
}

Dtype PromotedOf(const ElementwiseOp& op, std::span<const Named> operands) {
    std::optional<Dtype> result;
    const Named* first = nullptr;
    for (const Named& operand : operands) {
        if (!operand.x.is_array()) continue;
        Lookup(op, operand.name, operand.dtype());
        result = result ? PromoteTypes(*result, operand.dtype()) : operand.dtype();
        if (first == nullptr) first = &operand;
    }
    for (const Named& operand : operands) {
        if (operand.IsBoolean() != first->IsBoolean() && BoolMeetsBoolOnly(op)) {
            throw DtypeError{
                op.name,         ": ",
                first->name,     " has dtype ",
                first->dtype(),  ", ",
                operand.name,    operand.x.is_array() ? " has dtype " : " is a number of dtype ",
                operand.dtype(), ": bool goes with bool only"};
        }
        if (!operand.x.is_array()) result = ResultType(*result, operand.x.scalar());
    }
    const Dtype dtype = Lookup(op, first->name, *result);
    for (const Named& operand : operands) {
        if (!operand.x.is_array()) CheckIntFits(op.name, dtype, operand.x.scalar());
    }
    return dtype;
}

const Array& As(const Array& x, Dtype dtype, Array& holder) {
    if (x.dtype() == dtype) [[likely]]
        return x;
    holder = AsType(Detached(x), dtype, false);
    return holder;
}

const Array& AsSecond(const ElementwiseOp& op, const Array& x2, Dtype dtype, Array& holder) {
    if (x2.dtype() == dtype) [[likely]]
        return x2;
    holder = AsType(op.rule == DtypeRule::kShift ? ClampCount(x2) : Detached(x2), dtype, false);
    return holder;
}

}  // namespace chainerx::internal
