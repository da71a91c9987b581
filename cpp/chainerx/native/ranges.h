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
struct Range {
    int64_t begin;
    int64_t end;

    Range(int64_t begin, int64_t end) : begin{begin}, end{end} {}
    Range(int64_t n, int64_t count, int64_t i) : begin{n * i / count}, end{n * (i + 1) / count} {}
    int64_t size() const { return end - begin; }
};

// Calls f(begin, end) for chunks of [0, n) in order, with interrupt checks between them.
void ForChunks(int64_t n, const auto& f) {
    constexpr int64_t kChunk = 1 << 18;
    for (int64_t begin = 0; begin < n; begin += kChunk) {
        if (begin != 0) internal::CheckInterrupt();
        f(begin, std::min(n, begin + kChunk));
    }
}

}  // namespace chainerx::native
