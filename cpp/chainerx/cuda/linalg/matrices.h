// What all kernels of matrices share.
#pragma once

#include <cstdint>

#include "chainerx/core/array.h"
#include "chainerx/core/kernel_error.h"
#include "chainerx/cuda/linalg/params.h"
#include "chainerx/cuda/runtime/cuda_device.h"
#include "chainerx/kernels/linalg/matrix_batch.h"

namespace chainerx::cuda {

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
