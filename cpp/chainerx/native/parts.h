// Cutting work into parts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/interrupt.h"

namespace chainerx::native {

// Of how many parts of `b` elements `a` elements are, for a >= 0 and b > 0.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The numbers from begin to end, without that; often part i of n that is cut into `count` parts of
// nearly the same length.
struct Part {
    int64_t begin;
    int64_t end;

    Part(int64_t begin, int64_t end) : begin{begin}, end{end} {}
    Part(int64_t n, int64_t count, int64_t i) : begin{n * i / count}, end{n * (i + 1) / count} {}
    int64_t size() const { return end - begin; }
};

// Calls f(begin, end) for parts of [0, n) in turn; may be interrupted between them.
template <typename F>
void InParts(int64_t n, const F& f) {
    constexpr int64_t kPart = 1 << 18;
    for (int64_t begin = 0; begin < n; begin += kPart) {
        if (begin != 0) internal::CheckInterrupt();
        f(begin, std::min(n, begin + kPart));
    }
}

}  // namespace chainerx::native
