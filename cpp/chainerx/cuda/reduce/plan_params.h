// Dimensions of a plan as parameters of a kernel.
#pragma once

#include "chainerx/cuda/reduce/params.h"
#include "chainerx/native/reduce/reduce_plan.h"

namespace chainerx::cuda {

inline void CopyDims(const native::Nest& nest, ReduceDims& dims) {
    dims.ndim = nest.ndim;
    for (int d = 0; d < nest.ndim; ++d) {
        dims.sizes[d] = nest.dims[d];
        dims.strides[0][d] = nest.strides[0][d];
    }
}
inline void CopyDims(const native::StridedIterator<2>& iter, int ndim, ReduceDims& dims) {
    dims.ndim = ndim;
    for (int d = 0; d < ndim; ++d) {
        dims.sizes[d] = iter.dims[d];
        for (int k = 0; k < 2; ++k) dims.strides[k][d] = iter.strides[k][d];
    }
}

}  // namespace chainerx::cuda
