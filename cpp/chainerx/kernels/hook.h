// Hooks around every kernel call: the basis of profiling, capture and validation.
//
// While no hook is installed, a call costs no more than without this file. Installing a hook hides
// the kernels of all devices behind null entries; the check for an absent kernel, which each call
// makes anyway, then leads here.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx {

class KernelHook;

namespace internal {
struct HookList;
}  // namespace internal

// A call on its way through the hooks.
class CX_API KernelCall {
 public:
    const KernelInfo& kernel() const { return data_.kernel; }
    Device& device() const { return data_.device; }
    // For a KeptCall.
    const KernelCallData& data() const { return data_; }

    // The address of an operand, of the type that its descriptor states: an Array, an Operand, a
    // std::span<const ConstArrayRef>, or the value of an attribute.
    const void* operand(int i) const { return data_.operands[i]; }
    // Calls f(const OperandInfo&, const Array&) for all operands that are arrays.
    void ForEachArray(auto&& f) const;

    // Continues with the next hook, finally with the kernel. A hook calls it once, or not at all.
    void Proceed();

 private:
    friend void internal::CallHooked(const KernelCallData& call);
    KernelCall(const KernelCallData& data, const internal::HookList& hooks);

    const KernelCallData& data_;
    const internal::HookList& hooks_;
    size_t next_;
};

class CX_API KernelHook {
 public:
    virtual ~KernelHook();
    // Called in the thread that calls the kernel; several threads may call it concurrently.
    // Exceptions propagate to the caller of the operation, as those of kernels do.
    virtual void Run(KernelCall& call) = 0;
};

// The last one installed is the outermost. Hooks apply to all devices and threads.
CX_API void InstallKernelHook(std::shared_ptr<KernelHook> hook);
// Returns false if it is not installed. Running calls end with it.
CX_API bool RemoveKernelHook(const KernelHook* hook);

void KernelCall::ForEachArray(auto&& f) const {
    int i = 0;
    for (const OperandInfo& info : kernel().operands()) {
        const void* const p = operand(i++);
        switch (info.kind) {
            case OperandKind::kArray:
                f(info, *static_cast<const Array*>(p));
                break;
            case OperandKind::kArrayOrScalar:
                if (const auto* x = static_cast<const Operand*>(p); x->is_array()) {
                    f(info, x->array());
                }
                break;
            case OperandKind::kArrays:
                for (const ConstArrayRef& x :
                     *static_cast<const std::span<const ConstArrayRef>*>(p)) {
                    f(info, x.get());
                }
                break;
            case OperandKind::kValue:
                break;
        }
    }
}

}  // namespace chainerx
