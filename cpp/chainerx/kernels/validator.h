// Validates the operands of kernels before and after each call: for tests and for authors of
// backends.
#pragma once

#include "chainerx/core/macro.h"
#include "chainerx/kernels/hook.h"

namespace chainerx {

// Install it with InstallKernelHook(). ChainerxError, naming kernel and operand, for
// - an operand on another device than the one that is asked to compute,
// - an array whose elements lie outside of its buffer, or that says it is contiguous and is not,
// - an output that is read-only, or has several elements in one place,
// - an output that shares memory with another operand, against its role,
// - operands of an elementwise kernel that don't broadcast to the output or have other dtypes,
// - after the call, bytes other than 0 and 1 in a bool output.
class CX_API KernelValidator : public KernelHook {
 public:
    void Run(KernelCall& call) override;
};

}  // namespace chainerx
