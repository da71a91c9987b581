// Plans of cuBLASLt: what it is asked for, and the algorithm with which it has answered.
#pragma once

#include <cstdint>
#include <type_traits>

#include "chainerx/core/dtype.h"
#include "chainerx/cuda/driver/library_types.h"
#include "chainerx/cuda/runtime/cuda_device.h"

namespace chainerx::cuda {

// A matrix as the library reads it: by columns, of which each is contiguous.
struct LibraryMatrix {
    int64_t ld;            // elements from a column to the next
    int64_t batch_stride;  // and from a matrix to the next
    cublasOperation_t operation;
    uint32_t alignment;  // of every address that the plan is used with, in bytes
};

// All that the choice of an algorithm depends on: D (rows, columns) = left (rows, depth) right
// (depth, columns). Plans are found by the bytes.
struct ProductKey {
    int64_t rows, columns, depth;
    LibraryMatrix left, right, out;
    int32_t batch;
    int32_t device;
    cudaDataType data;
    cudaDataType scale;
    cublasComputeType_t compute;
    cublasLtEpilogue_t epilogue;
    uint32_t bias_alignment;  // 0 if there is no bias
    uint32_t reductions;      // a mask of cublasLtReductionScheme_t
};
static_assert(std::has_unique_object_representations_v<ProductKey>);

struct ProductOperands {
    const char* left;
    const char* right;
    char* bias;  // read, or written by the epilogues of gradients; or null
    char* out;
};

// Queues the product on the current stream. Returns false if the library has no algorithm for it.
bool RunLibraryPlan(CudaDevice& device, const ProductKey& key, const ProductOperands& operands);

}  // namespace chainerx::cuda
