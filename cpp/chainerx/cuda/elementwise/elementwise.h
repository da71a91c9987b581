// Runs rows of ops/elementwise/tables as kernels that are compiled on first use.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "chainerx/core/array.h"
#include "chainerx/core/dtype.h"
#include "chainerx/cuda/compile/compiler.h"
#include "chainerx/cuda/runtime/function_table.h"
#include "chainerx/kernels/dtype_rule.h"
#include "chainerx/kernels/kernel.h"

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

// How a kernel computes one element. Row is a struct with a function Apply that has the expression.
struct ElementText {
    std::string includes;
    std::string row_name;  // in full
    std::string row;
    const char* numbers;  // in which it computes, such as AsBatches
    const char* in;       // types of elements in memory
    const char* out;
};

// cuda/elementwise/source.cc
ElementText WriteElement(const ElementwiseKernel& kernel, Dtype dtype, const std::string& row_name);
DeviceSource WriteElementwiseSource(const ElementwiseKernel& kernel, Dtype dtype, int layout);

// The kernel without an expression, which selects.
inline bool IsWhere(const ElementwiseKernel& kernel) {
    return std::string_view{kernel.family} == "where";
}

// Chooses the kernel that computes the elements of a result of that dtype.
using ChooseElement = const ElementwiseKernel& (*)(Dtype out);
// For those who put several kernels into one source (cuda/fuse); null if the kernel does not
// compute each element by itself. cuda/elementwise/elements.cc
ChooseElement FindElement(const KernelInfo& kernel);
void SetElement(const KernelInfo& kernel, ChooseElement choose);

// Makes a kernel known to FindElement while the library is loaded.
template <typename K>
struct RegisteredElement {
    explicit RegisteredElement(ChooseElement choose) { SetElement(internal::InfoOf<K>(), choose); }
};

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

// The elements of the kernel Name are computed by the ElementwiseKernel `kernel`, an expression in
// which `out` is the dtype of the result.
#define CX_CUDA_ELEMENT(Name, kernel)                                                      \
    const ::chainerx::cuda::RegisteredElement<::chainerx::kernels::Name> kElementOf##Name{ \
        []([[maybe_unused]] Dtype out) -> const ElementwiseKernel& { return kernel; }};
