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

// Layout of the Philox blocks of one call: those from 0 on, further ones for second and third
// numbers, and a million for each element's substream.
inline constexpr uint64_t kSecondNumbers = uint64_t{1} << 61;
inline constexpr uint64_t kThirdNumbers = uint64_t{1} << 62;
inline constexpr uint64_t kSubstreams = uint64_t{1} << 63;

// Further random numbers of one element, for rejection sampling.
class Substream {
 public:
    // More than are ever drawn if a fifth is accepted. It bounds the loop if another thread writes
    // an invalid parameter after the check, for which nothing is accepted.
    static constexpr uint64_t kMax = 1024;

    Substream(const philox::Stream& stream, int64_t element)
        : stream_{stream}, block_{kSubstreams | static_cast<uint64_t>(element) << 20} {}

    philox::Block Next() { return stream_.Get(block_ + drawn_++); }
    bool is_used_up() const { return drawn_ >= kMax; }

 private:
    philox::Stream stream_;
    uint64_t block_;
    uint64_t drawn_{0};
};

// Returns the k of the first pair of numbers that accept(u, v, &k) accepts: this pair, or further
// ones of the element. 0 if none is accepted.
int64_t Reject(const philox::Stream& stream, int64_t element, double u, double v,
               const auto& accept) {
    Substream substream{stream, element};
    double k;
    while (!accept(u, v, &k)) {
        if (substream.is_used_up()) return 0;
        const philox::Block block = substream.Next();
        u = philox::ToUniform(philox::Join(block.v[0], block.v[1]));
        v = philox::ToUniform(philox::Join(block.v[2], block.v[3]));
    }
    return static_cast<int64_t>(k);
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
