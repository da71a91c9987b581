// Partitions work into ranges.
#pragma once

#include <algorithm>
#include <cstdint>

#include "chainerx/core/interrupt.h"

namespace chainerx::native {

// ceil(a / b), for a >= 0 and b > 0.
constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A half-open range [begin, end); often chunk i of n elements that are split into `count` chunks of
// nearly equal length.
struct Part {
    int64_t begin;
    int64_t end;

    Part(int64_t begin, int64_t end) : begin{begin}, end{end} {}
    Part(int64_t n, int64_t count, int64_t i) : begin{n * i / count}, end{n * (i + 1) / count} {}
    int64_t size() const { return end - begin; }
};

// Calls f(begin, end) for chunks of [0, n) in order, with interrupt checks between them.
template <typename F>
void InParts(int64_t n, const F& f) {
    constexpr int64_t kPart = 1 << 18;
    for (int64_t begin = 0; begin < n; begin += kPart) {
        if (begin != 0) internal::CheckInterrupt();
        f(begin, std::min(n, begin + kPart));
    }
}

}  // namespace chainerx::native
