// Runs rows of ops/elementwise/tables as kernels that are compiled on first use.
#pragma once

#include <span>
#include <string>

#include "chainerx/core/array.h"
#include "chainerx/core/dtype.h"
#include "chainerx/cuda/compile/compiler.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/kernels/dtype_rule.h"

namespace chainerx::cuda {

// What a kernel is specialized for, besides the dtype: the mask of its scalar inputs where all
// arrays are contiguous (0 to 6), or any strides, with indices of 32 or 64 bits.
enum class ElementwiseLayout : int8_t { kContiguous = 0, kStrided = 7, kStridedWide = 8 };
inline constexpr int kElementwiseLayouts = 9;

class ElementwiseKernel {
 public:
    static constexpr int kSame = -1;

    const char* name;
    const char* family;
    DtypeRule rule;
    int out_dtype;  // a Dtype, or kSame: that of the inputs
    int inputs;
    const char* parameters;  // of the expression, as C++ declares them
    const char* expression;  // or none: where.h selects

    Dtype OutDtype(Dtype in) const {
        return out_dtype == kSame ? in : static_cast<Dtype>(out_dtype);
    }
    FunctionTable<kNumDtypes, kElementwiseLayouts> functions{};
};

// cuda/elementwise/source.cc
DeviceSource WriteElementwiseSource(const ElementwiseKernel& kernel, Dtype dtype, int layout);

// At least one is an array.
inline Dtype DtypeOfArrays(std::span<const Operand> inputs) {
    size_t k = 0;
    while (!inputs[k].is_array()) ++k;
    return inputs[k].array().dtype();
}

// Arrays among the inputs are of `dtype`, but for a condition; scalars are converted to it.
void RunElementwise(const ElementwiseKernel& kernel, std::span<const Operand> inputs, Dtype dtype,
                    const Array& out);

}  // namespace chainerx::cuda
