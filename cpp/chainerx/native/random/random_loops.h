// Random streams, and SIMD loops that fill arrays from them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "chainerx/core/array.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/random/number_loops.h"
#include "chainerx/native/random/random.h"
#include "chainerx/native/random/substream.h"
#include "chainerx/native/ranges.h"

namespace chainerx::native {

// Threads may draw from one generator concurrently.
inline philox::Stream NextCall(const Array& state) {
    auto* words = reinterpret_cast<uint64_t*>(state.raw_data());
    return {std::atomic_ref{words[0]}.load(), std::atomic_ref{words[1]}.fetch_add(1)};
}

template <typename C>
const RandomLoops<C>& LoopsOf() {
    return random_loops().Of<C>();
}

// Calls f(i, u, v) for each element, with the two uniform numbers of its Philox block.
void ForPairs(const philox::Stream& stream, int64_t n, const auto& f) {
    constexpr int64_t kGrain = 1 << 12;
    constexpr int64_t kChunk = 128;
    ParallelFor(CeilDiv(n, kGrain), [&](int64_t task) {
        alignas(64) double numbers[2 * kChunk];
        const int64_t end = std::min(n, (task + 1) * kGrain);
        for (int64_t i = task * kGrain; i < end; i += kChunk) {
            const int64_t count = std::min(kChunk, end - i);
            LoopsOf<double>().uniform(stream.seed, stream.call, static_cast<uint64_t>(i), count,
                                      numbers);
            for (int64_t j = 0; j < count; ++j) f(i + j, numbers[2 * j], numbers[2 * j + 1]);
        }
    });
}

// A parameter: a scalar, or one value per element.
template <typename T>
class Each {
 public:
    explicit Each(const Array& x)
        : data_{reinterpret_cast<const T*>(x.raw_data())}, step_{x.GetTotalSize() == 1 ? 0 : 1} {}

    bool is_one() const { return step_ == 0; }
    T operator[](int64_t i) const { return data_[i * step_]; }

 private:
    const T* data_;
    int64_t step_;
};

}  // namespace chainerx::native
