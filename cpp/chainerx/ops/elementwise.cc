#include "chainerx/ops/elementwise.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "chainerx/autograd/record.h"
#include "chainerx/core/error.h"
#include "chainerx/core/overlap.h"
#include "chainerx/kernels/arithmetic.h"
#include "chainerx/kernels/logic.h"
#include "chainerx/ops/comparison.h"
#include "chainerx/ops/creation.h"
#include "chainerx/ops/indexing.h"
#include "chainerx/ops/layout.h"

namespace chainerx::internal {
namespace {

void CallKernelOf(const ElementwiseOp& op, const Array& x, const Array& y) {
    CallKernel<void(const Array&, const Array&)>(*op.kernel, y.device(), x, y);
}
void CallKernelOf(const ElementwiseOp& op, const Operand& x1, const Operand& x2, const Array& y) {
    CallKernel<void(const Operand&, const Operand&, const Array&)>(*op.kernel, y.device(), x1, x2,
                                                                   y);
}

constexpr int kNumRules = static_cast<int>(DtypeRule::kAny) + 1;
constexpr int8_t kRefused = -1;

// The dtype that operands of `dtype` compute in.
constexpr int8_t ComputeDtype(DtypeRule rule, Dtype dtype) {
    if (ComputesIn(rule, dtype)) return static_cast<int8_t>(dtype);
    const bool to_float =
        (IsInt(dtype) && (rule == DtypeRule::kDivide || rule == DtypeRule::kFloat ||
                          rule == DtypeRule::kInexact)) ||
        (IsBool(dtype) && (rule == DtypeRule::kFloat || rule == DtypeRule::kInexact));
    return to_float ? static_cast<int8_t>(kDefaultFloat) : kRefused;
}

struct ComputeTable {
    int8_t dtypes[kNumRules][kNumDtypes]{};

    constexpr ComputeTable() {
        for (int r = 0; r < kNumRules; ++r) {
            for (int d = 0; d < kNumDtypes; ++d) {
                dtypes[r][d] = ComputeDtype(static_cast<DtypeRule>(r), static_cast<Dtype>(d));
            }
        }
    }
};
constexpr ComputeTable kComputeTable;

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

[[noreturn]] CX_COLD void ThrowDtype(const ElementwiseOp& op, const char* name, Dtype dtype) {
    throw DtypeError{
        op.name, ": ", name, " has dtype ", GetDtypeName(dtype), ", expected ", Expected(op.rule)};
}
[[noreturn]] CX_COLD void ThrowDtypes(const ElementwiseOp& op, const char* d1, const char* d2,
                                      const char* why) {
    throw DtypeError{op.name, ": x1 has dtype ", d1, ", x2 has dtype ", d2, ": ", why};
}

Dtype Lookup(const ElementwiseOp& op, const char* name, Dtype dtype) {
    const int8_t d = kComputeTable.dtypes[static_cast<int>(op.rule)][static_cast<int>(dtype)];
    if (d == kRefused) [[unlikely]]
        ThrowDtype(op, name, dtype);
    return static_cast<Dtype>(d);
}

// Whether operands of `dtype` need no conversion.
bool IsComputedIn(const ElementwiseOp& op, Dtype dtype) {
    return kComputeTable.dtypes[static_cast<int>(op.rule)][static_cast<int>(dtype)] ==
           static_cast<int8_t>(dtype);
}

bool BoolMeetsBoolOnly(DtypeRule rule) {
    return rule == DtypeRule::kOrdered || rule == DtypeRule::kAny;
}

// The dtype that two arrays compute in.
Dtype Promoted(const ElementwiseOp& op, Dtype d1, Dtype d2) {
    if (d1 == d2) return Lookup(op, "x1", d1);
    if (op.rule != DtypeRule::kMultiply) {
        if (IsBool(d1) != IsBool(d2) && BoolMeetsBoolOnly(op.rule)) {
            ThrowDtypes(op, GetDtypeName(d1), GetDtypeName(d2), "bool goes with bool only");
        }
        Lookup(op, "x1", d1);
        Lookup(op, "x2", d2);
    }
    if (op.rule == DtypeRule::kShift && IsInt(PromoteTypes(d1, d2))) return d1;
    const Dtype promoted = op.to_bool ? ComparisonDtype(d1, d2) : PromoteTypes(d1, d2);
    if (kComputeTable.dtypes[static_cast<int>(op.rule)][static_cast<int>(promoted)] == kRefused) {
        ThrowDtypes(op, GetDtypeName(d1), GetDtypeName(d2),
                    "no dtype of this operation holds both");
    }
    return Lookup(op, "x1", promoted);
}

// The dtype that an array and a scalar compute in: the scalar is weak.
Dtype Promoted(const ElementwiseOp& op, const char* name, Dtype dtype, const Scalar& scalar) {
    const Dtype d = Lookup(op, name, dtype);
    if (scalar.kind() == DtypeKind::kBool && !IsBool(dtype) && op.rule != DtypeRule::kMultiply &&
        op.rule != DtypeRule::kBits) {
        ThrowDtypes(op, name[1] == '1' ? GetDtypeName(dtype) : "bool (a scalar)",
                    name[1] == '1' ? "bool (a scalar)" : GetDtypeName(dtype),
                    "bool goes with bool only");
    }
    if (IsBool(dtype) && BoolMeetsBoolOnly(op.rule) && scalar.kind() != DtypeKind::kBool) {
        ThrowDtypes(op, "bool", "a number (a scalar)", "bool goes with bool only");
    }
    if (op.rule == DtypeRule::kBits && IsBool(dtype) &&
        (scalar.kind() == DtypeKind::kInt || scalar.kind() == DtypeKind::kUInt)) {
        CheckIntFits(op.name, kDefaultInt, scalar);
        return kDefaultInt;
    }
    if (scalar.kind() < DtypeKind::kFloat) {
        // A shifted scalar is no number of the dtype of its count.
        const bool is_shifted = op.rule == DtypeRule::kShift && name[1] == '2';
        if (IsInt(d)) CheckIntFits(op.name, is_shifted ? Dtype::kInt64 : d, scalar);
        return d;
    }
    const Dtype promoted = ResultType(dtype, scalar);
    return promoted == dtype ? d : Lookup(op, name[1] == '1' ? "x2" : "x1", promoted);
}

bool IsLogical(const ElementwiseOp& op) {
    constexpr const KernelInfo* kLogical[] = {
        &kernels::LogicalAnd::kInfo, &kernels::LogicalOr::kInfo, &kernels::LogicalXor::kInfo};
    return std::ranges::find(kLogical, op.kernel) != std::end(kLogical);
}

// What an array is compared with in the place of `scalar`, which is cast.
Scalar Comparable(const ElementwiseOp& op, const Scalar& scalar) {
    if (!IsLogical(op)) return scalar;
    return Scalar{scalar.To<Complex128>() != Complex128{}};  // before a cast can make it 0
}

bool IsBeyond(Dtype dtype, const Scalar& scalar) {
    return (IsInt(dtype) || IsBool(dtype)) && scalar.kind() != DtypeKind::kComplex &&
           !scalar.Fits(dtype);
}

// As good as `x` to be compared with a number beyond its dtype, which is nan or lies on the same
// side of all elements.
Array StandIn(const Array& x) { return Zeros(x.shape(), Dtype::kFloat64, x.device()); }

// The dtype that a comparison of an array with a scalar casts both to.
Dtype CheckedComparisonDtype(const ElementwiseOp& op, const char* name, Dtype dtype,
                             const Scalar& scalar) {
    Lookup(op, name, dtype);
    const Dtype both = ComparisonDtype(dtype, scalar);
    if (both != dtype) Lookup(op, name[1] == '1' ? "x2" : "x1", both);
    if (scalar.IsHugeInt() && !IsInt(both) && std::isinf(scalar.To<double>())) {
        throw OverflowError{op.name, ": an integer is too large for the dtype ", both};
    }
    return both;
}

// `x` itself, or a copy of another dtype that `holder` keeps.
const Array& As(const Array& x, Dtype dtype, Array& holder) {
    if (x.dtype() == dtype) [[likely]]
        return x;
    holder = AsType(Detached(x), dtype, false);
    return holder;
}

// A shift by a count of a wider dtype must not become a small one: all counts that are no less than
// any width, or negative, are alike.
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

// As(), for the second operand.
const Array& AsSecond(const ElementwiseOp& op, const Array& x2, Dtype dtype, Array& holder) {
    if (x2.dtype() == dtype) [[likely]]
        return x2;
    holder = AsType(op.rule == DtypeRule::kShift ? ClampCount(x2) : Detached(x2), dtype, false);
    return holder;
}

}  // namespace

void CheckForward(const ForwardInputs& f, size_t n_inputs, size_t n_attributes) {
    const auto& [x, y, tangents, attributes] = f;
    if (x.size() != n_inputs || tangents.size() != n_inputs) {
        throw ChainerxError{"forward derivative: ", x.size(), " inputs and ", tangents.size(),
                            " tangents, expected ", n_inputs, " of each"};
    }
    if (attributes.size() != n_attributes) {
        throw ChainerxError{"forward derivative: ", attributes.size(), " attributes, expected ",
                            n_attributes, "; backward has released those of the node"};
    }
    for (size_t i = 0; i < n_inputs; ++i) {
        if (BroadcastShapes("forward derivative", x[i].shape(), y.shape()) != y.shape()) {
            throw DimensionError{"forward derivative: input ",
                                 i,
                                 " has shape ",
                                 x[i].shape(),
                                 ", which does not broadcast to that of y, ",
                                 y.shape()};
        }
        if (!tangents[i].is_null() && tangents[i].shape() != x[i].shape()) {
            throw DimensionError{"forward derivative: tangent ",
                                 i,
                                 " has shape ",
                                 tangents[i].shape(),
                                 ", input ",
                                 i,
                                 " has ",
                                 x[i].shape()};
        }
    }
}

Array CallUnary(const ElementwiseOp& op, const Array& x) {
    if (IsComputedIn(op, x.dtype())) [[likely]] {
        Array y = EmptyResult(x, op.to_bool ? Dtype::kBool : x.dtype());
        CallKernelOf(op, x, y);
        return y;
    }
    const Dtype dtype = Lookup(op, "x", x.dtype());
    Array holder;
    const Array& in = As(x, dtype, holder);
    Array y = EmptyResult(x, op.to_bool ? Dtype::kBool : dtype);
    CallKernelOf(op, in, y);
    return y;
}

Array CallUnary(const ElementwiseOp& op, const Array& x, double attr) {
    const Dtype dtype = Lookup(op, "x", x.dtype());
    Array holder;
    const Array& in = As(x, dtype, holder);
    Array y = EmptyResult(x, dtype);
    CallKernel<void(const Array&, double, const Array&)>(*op.kernel, y.device(), in, attr, y);
    return y;
}

namespace {

Array CallMixed(const ElementwiseOp& op, const Array& x1, const Array& x2) {
    const Dtype dtype = Promoted(op, x1.dtype(), x2.dtype());
    if (dtype == Dtype::kFloat64 && op.to_bool && IsInt(x1.dtype()) && IsInt(x2.dtype()) &&
        !IsLogical(op)) [[unlikely]] {
        return CompareWithUInt64(op, x1, x2);
    }
    Array holder1;
    Array holder2;
    const Array& in1 = As(x1, dtype, holder1);
    const Array& in2 = AsSecond(op, x2, dtype, holder2);
    const Dtype out_dtype = op.to_bool ? Dtype::kBool : dtype;
    const Shape shape = BroadcastShapes(op.name, x1.shape(), x2.shape());
    CheckedNBytes(op.name, shape, GetItemSize(out_dtype));
    Array y = EmptyResult(shape, x1, x2, out_dtype);
    CallKernelOf(op, Operand{in1}, Operand{in2}, y);
    return y;
}

}  // namespace

Array CallBinary(const ElementwiseOp& op, const Array& x1, const Array& x2) {
    CheckSameDevice(op.name, x1.device(), x2.device());
    const Dtype dtype = x1.dtype();
    if (dtype == x2.dtype() && IsComputedIn(op, dtype) && x1.shape() == x2.shape()) [[likely]] {
        Array y = EmptyResult(x1.shape(), x1, x2, op.to_bool ? Dtype::kBool : dtype);
        CallKernelOf(op, Operand{x1}, Operand{x2}, y);
        return y;
    }
    return CallMixed(op, x1, x2);
}

namespace {

Array CompareScalar(const ElementwiseOp& op, const Array& x1, const Scalar& x2) {
    const Scalar with = Comparable(op, x2);
    const Dtype dtype = CheckedComparisonDtype(op, "x1", x1.dtype(), with);
    if (IsBeyond(dtype, with)) [[unlikely]]
        return CompareScalar(op, StandIn(x1), with.To<double>());
    Array holder;
    const Array& in1 = As(x1, dtype, holder);
    Array y = EmptyResult(x1, Dtype::kBool);
    CallKernelOf(op, Operand{in1}, Operand{with}, y);
    return y;
}

Array CompareScalar(const ElementwiseOp& op, const Scalar& x1, const Array& x2) {
    const Scalar with = Comparable(op, x1);
    const Dtype dtype = CheckedComparisonDtype(op, "x2", x2.dtype(), with);
    if (IsBeyond(dtype, with)) [[unlikely]]
        return CompareScalar(op, with.To<double>(), StandIn(x2));
    Array holder;
    const Array& in2 = As(x2, dtype, holder);
    Array y = EmptyResult(x2, Dtype::kBool);
    CallKernelOf(op, Operand{with}, Operand{in2}, y);
    return y;
}

}  // namespace

Array CallBinary(const ElementwiseOp& op, const Array& x1, const Scalar& x2) {
    if (op.to_bool) return CompareScalar(op, x1, x2);
    const Dtype dtype = Promoted(op, "x1", x1.dtype(), x2);
    if (dtype == x1.dtype()) [[likely]] {
        Array y = EmptyResult(x1, dtype);
        CallKernelOf(op, Operand{x1}, Operand{x2}, y);
        return y;
    }
    Array holder;
    const Array& in1 = As(x1, dtype, holder);
    Array y = EmptyResult(x1, dtype);
    CallKernelOf(op, Operand{in1}, Operand{x2}, y);
    return y;
}

Array CallBinary(const ElementwiseOp& op, const Scalar& x1, const Array& x2) {
    if (op.to_bool) return CompareScalar(op, x1, x2);
    // A shifted scalar is an int64: its own dtype is weak, and that of the count says nothing.
    Dtype dtype = Promoted(op, "x2", x2.dtype(), x1);
    if (op.rule == DtypeRule::kShift) dtype = Dtype::kInt64;
    Array holder;
    const Array& in2 = As(x2, dtype, holder);
    Array y = EmptyResult(x2, dtype);
    CallKernelOf(op, Operand{x1}, Operand{in2}, y);
    return y;
}

namespace {

struct Named {
    const char* name;
    const Operand& x;

    Dtype dtype() const { return x.is_array() ? x.array().dtype() : x.scalar().dtype(); }
    bool IsBoolean() const {
        return x.is_array() ? IsBool(dtype()) : x.scalar().kind() == DtypeKind::kBool;
    }
};

// The dtype that any number of operands compute in; the arrays come first to say so.
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
        if (operand.IsBoolean() != first->IsBoolean() && BoolMeetsBoolOnly(op.rule)) {
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

}  // namespace

Array CallTernary(const ElementwiseOp& op, const Operand& x1, const Operand& x2,
                  const Operand& x3) {
    const Named operands[] = {{"x1", x1}, {"x2", x2}, {"x3", x3}};
    const Dtype dtype = PromotedOf(op, operands);
    const Array* arrays[3];
    const Array* first = nullptr;
    const Shape* shape = nullptr;
    Shape broadcast;
    bool is_contiguous = true;
    for (int i = 0; i < 3; ++i) {
        const Operand& x = operands[i].x;
        arrays[i] = x.is_array() ? &x.array() : nullptr;
        if (arrays[i] == nullptr) continue;
        is_contiguous &= arrays[i]->IsContiguous();
        if (first == nullptr) {
            first = arrays[i];
            shape = &first->shape();
            continue;
        }
        CheckSameDevice(op.name, first->device(), arrays[i]->device());
        if (arrays[i]->shape() != *shape) {
            broadcast = BroadcastShapes(op.name, *shape, arrays[i]->shape());
            shape = &broadcast;
        }
    }
    CheckedNBytes(op.name, *shape, GetItemSize(dtype));
    Array holders[3];  // nothing is converted before all is checked
    std::optional<Operand> in[3];
    for (int i = 0; i < 3; ++i) {
        if (arrays[i] == nullptr) {
            in[i].emplace(operands[i].x);
        } else {
            in[i].emplace(As(*arrays[i], dtype, holders[i]));
        }
    }
    Array y = is_contiguous ? EmptyUnchecked(*shape, dtype, first->device())
                            : EmptyInOrderOf(*shape, dtype, first->device(), arrays);
    CallKernel<void(const Operand&, const Operand&, const Operand&, const Array&)>(
        *op.kernel, y.device(), *in[0], *in[1], *in[2], y);
    return y;
}

namespace {

// In-place results may lose width, not kind: a float does not go into an integer.
CX_COLD void CheckInPlaceDtype(const ElementwiseOp& op, Dtype dtype, Dtype result) {
    if (GetCategory(result) != GetCategory(dtype)) {
        throw DtypeError{"i",
                         op.name,
                         ": the result has dtype ",
                         GetDtypeName(result),
                         ", which does not go into the dtype of x1, ",
                         GetDtypeName(dtype)};
    }
}

}  // namespace

void CallInPlace(const ElementwiseOp& op, const Array& x1, const Array& x2) {
    CheckInPlaceOutput(op.name, x1);
    CheckInPlaceInput(op.name, x2);
    CheckSameDevice(op.name, x1.device(), x2.device());
    const Dtype result = Promoted(op, x1.dtype(), x2.dtype());
    if (result != x1.dtype()) CheckInPlaceDtype(op, x1.dtype(), result);
    if (x1.shape() != x2.shape() &&
        BroadcastShapes(op.name, x1.shape(), x2.shape()) != x1.shape()) {
        throw DimensionError{"i",
                             op.name,
                             ": x2.shape is ",
                             x2.shape(),
                             ", expected one that broadcasts to x1.shape, ",
                             x1.shape()};
    }
    if (result != x1.dtype()) {  // x2 may not fit into the dtype of x1, though the result does
        Assign(x1, CallBinary(op, Detached(x1), Detached(x2)));
        return;
    }
    Array holder;
    const Array* in2 = &AsSecond(op, x2, x1.dtype(), holder);
    if (MustCopy(x1, *in2)) {
        holder = Copy(Detached(*in2));
        in2 = &holder;
    }
    x1.buffer()->MarkWritten();
    CallKernelOf(op, Operand{x1}, Operand{*in2}, x1);
}

void CallInPlace(const ElementwiseOp& op, const Array& x1, const Scalar& x2) {
    CheckInPlaceOutput(op.name, x1);
    const Dtype result = Promoted(op, "x1", x1.dtype(), x2);
    if (result != x1.dtype()) CheckInPlaceDtype(op, x1.dtype(), result);
    x1.buffer()->MarkWritten();
    CallKernelOf(op, Operand{x1}, Operand{x2}, x1);
}

}  // namespace chainerx::internal
