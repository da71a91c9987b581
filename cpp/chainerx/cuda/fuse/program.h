// A chain as values, each of which is made once: what calls read and write in scratch arrays, or in
// arrays that an earlier call has written, is a value in a register.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "chainerx/core/dtype.h"
#include "chainerx/core/scalar.h"
#include "chainerx/cuda/elementwise/elementwise.h"
#include "chainerx/cuda/fuse/frame.h"
#include "chainerx/cuda/reduce/reduction_texts.h"

namespace chainerx::cuda {

struct FusedValue {
    enum class Kind : int8_t { kLoad, kScalar, kElement, kReduction };

    Kind kind;
    Dtype dtype;
    // The same for all elements of a row, or of the frame if no call knows rows.
    bool is_uniform;
    size_t index{0};  // of an array, or of a scalar
    // Of elements and reductions: the dtype in which they compute, and their operands; a
    // reduction's second one is its center.
    Dtype in{};
    std::vector<size_t> operands{};
    const ElementwiseKernel* element{nullptr};
    const ReductionTexts* reduction{nullptr};
};

struct FusedStore {
    size_t array;
    size_t value;
};

struct FusedScalar {
    Scalar value;
    Dtype dtype;
};

struct FusedProgram {
    std::vector<FusedValue> values;  // operands come first
    std::vector<FusedStore> stores;
    std::vector<FusedScalar> scalars;
    std::vector<Dtype> dtypes;  // by array
    size_t n_calls;

    FusedProgram(const FusedChain& chain, const FusedFrame& frame);

    // Whether an array is read as it was before the chain, which writes to it.
    bool IsUpdated(size_t array) const;
};

}  // namespace chainerx::cuda
