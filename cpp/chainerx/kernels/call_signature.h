// What a call of a kernel is besides its values: device, dtypes and shapes of its operands. By it
// the profiler tells calls of one kernel apart.
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

// Of a list of arrays, the first few count, and how many there are, and how large together.
struct OperandSummary {
    std::string name;  // "x1"; "xs[0]"; "xs[4:9]" of those of a list that are not looked at
    OperandRole role;
    std::optional<Dtype> dtype;  // none of these: left out, or an array that is not there
    std::optional<Shape> shape;  // none and a dtype: a number
};

namespace internal {

// Words that are equal where two calls look the same. Made for each call: no allocation.
class CallSignature {
 public:
    explicit CallSignature(const KernelCall& call);
    // Of all calls of the kernel on the device, whatever the operands.
    static CallSignature OfKernel(const KernelCall& call) { return CallSignature{call, false}; }

    std::span<const int64_t> words() const { return {words_, static_cast<size_t>(n_)}; }
    uint64_t Hash() const;

 private:
    CallSignature(const KernelCall& call, bool operands);

    bool Push(int64_t word) {
        if (n_ == kMaxWords - 1) return false;  // the last is for the end
        words_[n_++] = word;
        return true;
    }
    bool Push(const Array& x);
    bool PushAll(const KernelCall& call);

    static constexpr int kMaxWords = 120;
    int n_{0};
    int64_t words_[kMaxWords];
};

// What the words of a call of `kernel` say; none if operands were not looked at, or too many.
std::optional<std::vector<OperandSummary>> Summarize(const KernelInfo& kernel,
                                                     std::span<const int64_t> words);

}  // namespace internal
}  // namespace chainerx
