// Filling arrays with random numbers. Every element is a function of its index, so blocks may be
// computed by any thread.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/kernels/random.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/random.h"

namespace chainerx::native {
namespace {

// Philox blocks in a block of the thread pool: some 30 to 200 us.
constexpr int64_t kBlocksPerTask = 1 << 12;

// Calls f(philox block, out, n) for runs of the elements that one Philox block gives: kPer each,
// fewer at the end.
template <int kPer, typename T, typename F>
void FillBlocks(const philox::Stream& stream, T* out, int64_t n, const F& f) {
    const int64_t n_blocks = CeilDiv(n, kPer);
    ParallelFor(CeilDiv(n_blocks, kBlocksPerTask), [&](int64_t task) {
        const int64_t end = std::min(n_blocks, (task + 1) * kBlocksPerTask);
        for (int64_t i = task * kBlocksPerTask; i < end; ++i) {
            f(stream.Get(static_cast<uint64_t>(i)), out + i * kPer,
              std::min<int64_t>(kPer, n - i * kPer));
        }
    });
}

// Threads may draw from one generator at the same time.
philox::Stream NextCall(const Array& state) {
    auto* words = reinterpret_cast<uint64_t*>(state.raw_data());
    return {std::atomic_ref{words[0]}.load(), std::atomic_ref{words[1]}.fetch_add(1)};
}

// The numbers of the blocks first, ..., first + n - 1, by the loops of the instruction set.
template <typename C>
using DrawLoop = void (*)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, C* out);

// Draws with `loop` and stores f(number). 16-bit floats are drawn as float32 and rounded.
template <typename T, typename F>
void FillFloats(const philox::Stream& stream, const Array& out, DrawLoop<ComputeType<T>> loop,
                const F& f) {
    using C = ComputeType<T>;
    constexpr int64_t kPer = 16 / sizeof(C);
    constexpr int64_t kChunk = 256;  // blocks: 4 KiB, which stay in the cache
    T* to = reinterpret_cast<T*>(out.raw_data());
    const int64_t n = out.GetTotalSize();
    const int64_t n_blocks = CeilDiv(n, kPer);
    ParallelFor(CeilDiv(n_blocks, kBlocksPerTask), [&](int64_t task) {
        alignas(64) C values[kChunk * kPer];
        const int64_t end = std::min(n_blocks, (task + 1) * kBlocksPerTask);
        for (int64_t i = task * kBlocksPerTask; i < end; i += kChunk) {
            loop(stream.seed, stream.call, static_cast<uint64_t>(i), std::min(kChunk, end - i),
                 values);
            const int64_t count = std::min(kChunk * kPer, std::min(n, end * kPer) - i * kPer);
            for (int64_t j = 0; j < count; ++j) to[i * kPer + j] = Cast<T>(f(values[j]));
        }
    });
}

template <typename C>
const RowLoopsOf<C>& LoopsOf() {
    if constexpr (std::is_same_v<C, float>) {
        return rows_loops().f32;
    } else {
        return rows_loops().f64;
    }
}

// The largest T below `high`, toward `low`: what rounding must not exceed.
template <typename T>
ComputeType<T> LastBelow(double low, double high) {
    using C = ComputeType<T>;
    const T rounded = Cast<T>(high);
    const C top = Cast<C>(rounded);
    if (top < high || low >= high) return top;
    if constexpr (std::is_same_v<T, C>) {
        return std::nextafter(top, -std::numeric_limits<C>::infinity());
    } else {
        const uint16_t bits = rounded.bits();
        if ((bits & 0x7fff) == 0) return Cast<C>(T::FromBits(0x8001));
        return Cast<C>(T::FromBits(top > 0 ? bits - 1 : bits + 1));
    }
}

void RandomUniform(const Array& state, double low, double high, const Array& out) {
    const philox::Stream stream = NextCall(state);
    VisitFloat(out.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        const auto fill = [&](double from, double to, auto finish) {
            const C first = static_cast<C>(from);
            const C width = static_cast<C>(to - from);
            const C last = LastBelow<T>(from, to);
            FillFloats<T>(stream, out, LoopsOf<C>().random.uniform,
                          [=](C u) { return finish(std::min(first + width * u, last)); });
        };
        if (low <= high) {
            fill(low, high, [](C x) { return x; });
        } else {
            fill(-low, -high, [](C x) { return -x; });
        }
    });
}
CX_NATIVE_KERNEL(RandomUniform)

void RandomNormal(const Array& state, double loc, double scale, const Array& out) {
    const philox::Stream stream = NextCall(state);
    VisitFloat(out.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        const C mean = static_cast<C>(loc);
        const C deviation = static_cast<C>(scale);
        FillFloats<T>(stream, out, LoopsOf<C>().random.normal,
                      [=](C z) { return mean + deviation * z; });
    });
}
CX_NATIVE_KERNEL(RandomNormal)

uint64_t Bounded(uint64_t bits, uint64_t range) {
    return range == 0 ? bits : philox::ToBounded(bits, range);
}

void RandomIntegers(const Array& state, int64_t low, uint64_t range, const Array& out) {
    const philox::Stream stream = NextCall(state);
    VisitInt(out.dtype(), [&]<typename T>() {
        FillBlocks<2>(stream, reinterpret_cast<T*>(out.raw_data()), out.GetTotalSize(),
                      [=](const philox::Block& b, T* to, int64_t n) {
                          for (int64_t i = 0; i < n; ++i) {
                              const uint64_t bits = philox::Join(b.v[2 * i], b.v[2 * i + 1]);
                              to[i] =
                                  static_cast<T>(static_cast<uint64_t>(low) + Bounded(bits, range));
                          }
                      });
    });
}
CX_NATIVE_KERNEL(RandomIntegers)

// Fisher and Yates's shuffle. Its swaps follow each other, so one thread does them.
void RandomPermutation(const Array& state, const Array& out) {
    auto* p = reinterpret_cast<int64_t*>(out.raw_data());
    const int64_t n = out.GetTotalSize();
    for (int64_t i = 0; i < n; ++i) p[i] = i;
    const philox::Stream stream = NextCall(state);
    for (int64_t i = n - 1; i > 0; --i) {
        const philox::Block b = stream.Get(static_cast<uint64_t>(i));
        const uint64_t j = philox::ToBounded(philox::Join(b.v[0], b.v[1]), i + uint64_t{1});
        std::swap(p[i], p[j]);
        if (i % (1 << 14) == 0) internal::CheckInterrupt();
    }
}
CX_NATIVE_KERNEL(RandomPermutation)

void RandomKey(const Array& state, const Array& key) {
    const philox::Stream stream = NextCall(state);
    auto* words = reinterpret_cast<uint64_t*>(key.raw_data());
    words[0] = stream.seed;
    words[1] = stream.call;
}
CX_NATIVE_KERNEL(RandomKey)

void Dropout(const Array& x, const Array& key, double ratio, const Array& out) {
    constexpr int64_t kGroup = 32;
    constexpr int64_t kGroupsPerTask = 1 << 10;
    const auto* words = reinterpret_cast<const uint64_t*>(key.raw_data());
    const philox::Stream stream{words[0], words[1]};
    const auto threshold = static_cast<uint32_t>(std::min(std::ceil(ratio * 0x1p32), 0x1p32 - 1));
    const int64_t n = x.GetTotalSize();
    const int64_t groups = CeilDiv(n, kGroup);
    VisitFloat(x.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        const C scale = static_cast<C>(1 / (1 - ratio));
        const T* from = reinterpret_cast<const T*>(x.raw_data());
        T* to = reinterpret_cast<T*>(out.raw_data());
        // For groups first, ..., end - 1 of the array.
        const auto run = [&](int64_t first, int64_t end, const C* values, C* results) {
            LoopsOf<C>().dropout(stream.seed, stream.call, static_cast<uint64_t>(first * 8),
                                 end - first, std::max<int64_t>(end * kGroup - n, 0), threshold,
                                 scale, values, results);
        };
        ParallelFor(CeilDiv(groups, kGroupsPerTask), [&](int64_t task) {
            const int64_t begin = task * kGroupsPerTask;
            const int64_t end = std::min(groups, begin + kGroupsPerTask);
            if constexpr (std::is_same_v<T, C>) {
                run(begin, end, from + begin * kGroup, to + begin * kGroup);
            } else {
                constexpr int64_t kChunk = 32;  // groups, as floats 4 KiB
                C values[kChunk * kGroup];
                for (int64_t g = begin; g < end; g += kChunk) {
                    const int64_t last = std::min(end, g + kChunk);
                    const int64_t count = std::min(n, last * kGroup) - g * kGroup;
                    for (int64_t j = 0; j < count; ++j) values[j] = Cast<C>(from[g * kGroup + j]);
                    run(g, last, values, values);
                    for (int64_t j = 0; j < count; ++j) to[g * kGroup + j] = Cast<T>(values[j]);
                }
            }
        });
    });
}
CX_NATIVE_KERNEL(Dropout)

}  // namespace
}  // namespace chainerx::native
