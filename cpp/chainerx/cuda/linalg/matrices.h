// What all kernels of matrices share.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/linalg/params.h"
#include "chainerx/cuda/runtime/cuda_device.h"

namespace chainerx::cuda {

inline int64_t Rows(const Array& a) { return a.shape()[a.ndim() - 2]; }
inline int64_t Columns(const Array& a) { return a.shape()[a.ndim() - 1]; }
inline int64_t CountMatrices(const Array& a) {
    int64_t count = 1;
    for (int8_t i = 0; i < a.ndim() - 2; ++i) count *= a.shape()[i];
    return count;
}

// Kernels of cuda/linalg/device.
enum class MatrixKernel : int {
    kCheckFinite,
    kCheckInfo,
    kMakeComplexVectors,
    kFactorLu,
    kSolveFactored,
    kDeterminants,
    kFactorCholesky,
    kDiagonalize,
};

// The parameters for all matrices of `a`.
MatrixParams MakeMatrixParams(const Array& a);
// For numbers of this dtype; a block each, or a thread each. The memory is in use already.
void LaunchMatrices(CudaDevice& device, MatrixKernel kernel, Dtype dtype,
                    const MatrixParams& params);
// Reports matrices whose `info`, less `first`, is a value of the error.
void CheckInfo(CudaDevice& device, const Array& info, int64_t first, const KernelError& error);

// With the last two axes swapped: as columns.
Array Transposed(const Array& a);
Array ContiguousCopy(const Array& a);

}  // namespace chainerx::cuda
