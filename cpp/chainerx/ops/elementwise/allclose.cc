#include "chainerx/ops/elementwise/allclose.h"

#include <algorithm>

#include "chainerx/ops/elementwise/tables/bitwise.h"
#include "chainerx/ops/elementwise/tables/numeric.h"
#include "chainerx/ops/routine.h"

namespace chainerx {
namespace {

using internal::Detached;

bool IsNumber(Dtype dtype) { return IsFloat(dtype) || IsComplex(dtype); }

// Writes x1 | x2 to the memory of x1.
void Either(const Array& x1, const Array& x2) { internal::IBitwiseOr(x1, x2); }

// Converts bool to an integer if the other operand is not bool.
Array Comparable(const Array& x, const Array& other) {
    return IsBool(x.dtype()) && !IsBool(other.dtype()) ? AsType(x, Dtype::kInt8) : Detached(x);
}
Array EqualNumbers(const Array& a, const Array& b) {
    return Equal(Comparable(a, b), Comparable(b, a));
}

bool AreBroadcastable(const Shape& s1, const Shape& s2) {
    for (int8_t i = 1; i <= std::min(s1.ndim(), s2.ndim()); ++i) {
        const int64_t n1 = s1[s1.ndim() - i];
        const int64_t n2 = s2[s2.ndim() - i];
        if (n1 != n2 && n1 != 1 && n2 != 1) return false;
    }
    return true;
}

// Returns where both are NaN.
Array BothNan(const Array& a, const Array& b) { return LogicalAnd(Isnan(a), Isnan(b)); }

// isclose for complex numbers; real numbers take two passes over memory (numeric.def).
Array CloseParts(const Array& a, const Array& b, const Closeness& closeness) {
    Array y = LessEqual(Absolute(a - b), Absolute(b) * closeness.rtol + closeness.atol);
    internal::IBitwiseAnd(y, Isfinite(b));
    Either(y, Equal(a, b));
    return y;
}

}  // namespace

Array Isclose(const Array& given_a, const Array& given_b, const Closeness& closeness) {
    CheckSameDevice("isclose", given_a.device(), given_b.device());
    // Converts integers to float64: their differences would wrap around, and tolerances are
    // fractions.
    const auto to_number = [](const Array& x) {
        return AsType(Detached(x), IsNumber(x.dtype()) ? x.dtype() : Dtype::kFloat64, false);
    };
    const Array a = to_number(given_a);
    const Array b = to_number(given_b);
    Array y = IsComplex(PromoteTypes(a.dtype(), b.dtype()))
                  ? CloseParts(a, b, closeness)
                  : LessEqual(CloseDistance(a, b), CloseBound(b, closeness.rtol, closeness.atol));
    if (closeness.equal_nan) Either(y, BothNan(a, b));
    return y;
}

bool Allclose(const Array& a, const Array& b, const Closeness& closeness) {
    return All(Isclose(a, b, closeness)).Item<bool>();
}

bool ArrayEqual(const Array& a1, const Array& a2, bool equal_nan) {
    if (a1.shape() != a2.shape()) return false;
    Array y = EqualNumbers(a1, a2);
    if (equal_nan && IsNumber(a1.dtype()) && IsNumber(a2.dtype())) Either(y, BothNan(a1, a2));
    return All(y).Item<bool>();
}

bool ArrayEquiv(const Array& a1, const Array& a2) {
    if (!AreBroadcastable(a1.shape(), a2.shape())) return false;
    return All(EqualNumbers(a1, a2)).Item<bool>();
}

}  // namespace chainerx
