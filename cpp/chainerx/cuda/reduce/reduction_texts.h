// What reductions combine, for those who put them into sources of their own (cuda/fuse).
#pragma once

#include "chainerx/core/dtype.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx::cuda {

// Templates of a header of cuda/reduce/device: what is combined, by the dtype of the elements, and
// how it is stored, by that of the result (policies.h).
struct ReductionTexts {
    const char* header;
    const char* policy;
    const char* store;
    // What computes the centers that the policy subtracts; null if it has none.
    const ReductionTexts* of_centers{nullptr};
};

// Null for other kernels.
const ReductionTexts* FindReduction(const KernelInfo& kernel);
void SetReduction(const KernelInfo& kernel, const ReductionTexts& texts);

// The dtype of the centers of a reduction.
Dtype DtypeOfCenters(Dtype in);

// Makes a reduction known to FindReduction while the library is loaded.
template <typename K>
struct RegisteredReduction {
    explicit RegisteredReduction(const ReductionTexts& texts) {
        SetReduction(internal::InfoOf<K>(), texts);
    }
};

}  // namespace chainerx::cuda
