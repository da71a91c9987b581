// Binary searches.
#pragma once

#include <algorithm>
#include <cstdint>

namespace chainerx::native {
namespace {

// For each wanted key, counts the sorted keys below it. Searches are interleaved to overlap cache
// misses.
template <bool kRight, typename K>
void Search(const K* sorted, int64_t n, const K* wanted, int64_t count, int64_t* out) {
    constexpr int64_t kTogether = 16;
    const auto is_before = [](K key, K limit) { return kRight ? key <= limit : key < limit; };
    for (int64_t i = 0; i < count; i += kTogether) {
        const int64_t width = std::min(kTogether, count - i);
        int64_t at[kTogether] = {};
        for (int64_t left = n; left > 1;) {
            const int64_t half = left / 2;
            for (int64_t j = 0; j < width; ++j) {
                at[j] += is_before(sorted[at[j] + half - 1], wanted[i + j]) ? half : 0;
            }
            left -= half;
        }
        for (int64_t j = 0; j < width; ++j) {
            out[i + j] = at[j] + is_before(sorted[at[j]], wanted[i + j]);
        }
    }
}

}  // namespace
}  // namespace chainerx::native
