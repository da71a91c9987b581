// The signature of a kernel call, i.e. all but the values: device, dtypes and shapes of its
// operands. The profiler distinguishes calls of one kernel by it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chainerx/core/dims.h"
#include "chainerx/core/dtype.h"
#include "chainerx/kernels/hook.h"

namespace chainerx {

// Of a list of arrays, only the first few, the number of the others and their total size are
// recorded.
struct OperandSummary {
    std::string name;  // "x1"; "xs[0]"; "xs[4:9]" for the unrecorded arrays of a list
    OperandRole role;
    std::optional<Dtype> dtype;  // nullopt: omitted, or an absent array
    std::optional<Shape> shape;  // nullopt with a dtype: a scalar
};

namespace internal {

// Words that are equal if two calls have equal signatures. Made for each call without allocation.
class CallSignature {
 public:
    explicit CallSignature(const KernelCall& call);
    // For all calls of the kernel on the device, whatever the operands.
    static CallSignature OfKernel(const KernelCall& call) { return CallSignature{call, false}; }

    std::span<const int64_t> words() const { return {words_, static_cast<size_t>(n_)}; }
    uint64_t Hash() const;

 private:
    CallSignature(const KernelCall& call, bool operands);

    bool Push(int64_t word) {
        if (n_ == kMaxWords - 1) return false;  // the last word is for the end
        words_[n_++] = word;
        return true;
    }
    bool Push(const Array& x);
    bool PushAll(const KernelCall& call);

    static constexpr int kMaxWords = 120;
    int n_{0};
    int64_t words_[kMaxWords];
};

// Decodes the words of a call of `kernel`; nullopt if operands were not recorded, or too many.
std::optional<std::vector<OperandSummary>> Summarize(const KernelInfo& kernel,
                                                     std::span<const int64_t> words);

}  // namespace internal
}  // namespace chainerx
