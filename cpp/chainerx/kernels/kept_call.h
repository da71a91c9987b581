// A copy of a kernel call, for deferred, remote or repeated execution.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "chainerx/core/array.h"
#include "chainerx/core/macro.h"
#include "chainerx/kernels/kernel.h"

namespace chainerx {

class CX_API KeptCall {
 public:
    // `map` returns the Array to keep for each array operand, in order: either the array itself,
    // which then lives as long as this, or a substitute.
    template <typename F>
    KeptCall(const KernelCallData& call, F&& map) : KeptCall{call} {
        Keep(call, [](void* f, const Array& x) -> Array { return (*static_cast<F*>(f))(x); }, &map);
    }
    KeptCall(const KeptCall&) = delete;
    KeptCall& operator=(const KeptCall&) = delete;

    const KernelInfo& kernel() const { return kernel_; }
    // The addresses of the operands, as in KernelCallData.
    const void* const* operands() const { return operands_.data(); }
    KernelCallData DataFor(Device& device) const {
        return {kernel_, device, operands_.data(), invoke_};
    }
    // Repeats the call, with any implementation of the kernel.
    void Run(KernelFn fn) const { invoke_(fn, operands_.data()); }

 private:
    using Map = Array (*)(void* f, const Array& x);

    explicit KeptCall(const KernelCallData& call) : kernel_{call.kernel}, invoke_{call.invoke} {}
    void Keep(const KernelCallData& call, Map map, void* f);

    const KernelInfo& kernel_;
    void (*invoke_)(KernelFn fn, const void* const* operands);
    std::vector<const void*> operands_;
    // The targets of operands_, at stable addresses.
    std::deque<Array> arrays_;
    std::deque<Scalar> scalars_;
    std::deque<Operand> mixed_;
    std::deque<std::vector<ConstArrayRef>> lists_;
    std::deque<std::span<const ConstArrayRef>> spans_;
    std::unique_ptr<std::byte[]> values_;
};

}  // namespace chainerx
