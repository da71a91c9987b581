// What chains a device wants (kernels/fuse/fused_chain.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "chainerx/core/macro.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx {

struct FusionLimits {
    // Elements from which on a chain pays. On CPUs smaller arrays stay in the cache without it.
    int64_t min_size{8192};
    // Whether the chain of single numbers pays, too.
    bool has_scalars{false};
    // More calls would need too much cache, or too many registers, at once.
    size_t max_calls{64};
    size_t max_reductions{64};
    // Elements of a row: a block has whole rows.
    int64_t max_row{1 << 14};
};

// Devices whose chains differ from those of the CPU derive from this as well.
class CX_API FusionDevice {
 public:
    virtual ~FusionDevice() = default;
    virtual const FusionLimits& fusion_limits() const = 0;
    // Whether calls of the kernel may be in a chain, as far as the device is concerned.
    virtual bool CanFuse(const KernelInfo& kernel) const = 0;
    // Whether a chain may have so many arrays, and scalars as operands, in a frame of so many axes.
    virtual bool CanHold(size_t n_arrays, size_t n_scalars, int ndim) const = 0;
};

}  // namespace chainerx
