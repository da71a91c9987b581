// Dtype rules: which dtypes the rows of the elementwise tables accept, and in which dtype they
// compute.
#pragma once

#include <cstdint>

#include "chainerx/core/dtype.h"

namespace chainerx {

// The second column of ops/elementwise/tables/*.def. "Computes in the default float" means that the
// routine converts integers (and, where it says so, bool) before it calls the kernel.
enum class DtypeRule : int8_t {
    kNumeric,   // all but bool; computes in the dtype of the operands
    kMultiply,  // as kNumeric, and bool
    kReal,      // integers and floats
    kOrdered,   // integers and floats, and bool with bool
    kDivide,    // as kNumeric; integers compute in the default float
    kFloat,     // floats; integers and bool compute in the default float
    kInexact,   // floats and complex; integers and bool compute in the default float
    kBits,      // integers and bool
    kShift,     // integers; the result has the dtype of x1
    kAny        // all; bool only with bool
};

// Whether a kernel of this rule computes in `dtype`.
constexpr bool ComputesIn(DtypeRule rule, Dtype dtype) {
    switch (rule) {
        case DtypeRule::kNumeric:
            return !IsBool(dtype);
        case DtypeRule::kMultiply:
        case DtypeRule::kAny:
            return true;
        case DtypeRule::kReal:
            return IsInt(dtype) || IsFloat(dtype);
        case DtypeRule::kOrdered:
            return !IsComplex(dtype);
        case DtypeRule::kDivide:
        case DtypeRule::kInexact:
            return IsFloat(dtype) || IsComplex(dtype);
        case DtypeRule::kFloat:
            return IsFloat(dtype);
        case DtypeRule::kBits:
            return IsInt(dtype) || IsBool(dtype);
        case DtypeRule::kShift:
            return IsInt(dtype);
    }
    return false;
}

}  // namespace chainerx
