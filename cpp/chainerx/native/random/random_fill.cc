// Fills arrays with random numbers. Every element is a function of its index, so any thread may
// compute it.
#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "chainerx/core/kernel_error.h"
#include "chainerx/kernels/random/parameters.h"
#include "chainerx/kernels/random/random.h"
#include "chainerx/kernels/random/short_range.h"
#include "chainerx/native/isa.h"
#include "chainerx/native/native_kernel.h"
#include "chainerx/native/random/integer_range.h"
#include "chainerx/native/random/random_loops.h"

namespace chainerx::native {

CX_DISPATCH(random, RandomUnit)

namespace {

// Philox blocks per task of the thread pool: some 30 to 200 us.
constexpr int64_t kBlocksPerTask = 1 << 12;
constexpr int64_t kChunk = 256;  // blocks: 4 KiB, which stay in L1

// The numbers of Philox blocks first, ..., first + n - 1, by the SIMD loops.
template <typename C>
using DrawLoop = void (*)(uint64_t seed, uint64_t call, uint64_t first, int64_t n, C* out);

// Draws with `loop` and stores f(number). 16-bit floats are drawn as float32 and rounded.
template <typename T, typename F>
void FillFloats(const philox::Stream& stream, const Array& out, DrawLoop<ComputeType<T>> loop,
                const F& f) {
    using C = ComputeType<T>;
    constexpr int64_t kPer = 16 / sizeof(C);
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

void RandomUniform(const Array& state, double low, double high, const Array& out) {
    const philox::Stream stream = NextCall(state);
    VisitFloat(out.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        const auto fill = [&](auto finish) {
            const auto [first, width, last] = MakeUniformRange<T>(low, high);
            FillFloats<T>(stream, out, LoopsOf<C>().uniform,
                          [=](C u) { return finish(std::min(first + width * u, last)); });
        };
        if (low <= high) {
            fill([](C x) { return x; });
        } else {
            fill([](C x) { return -x; });
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
        FillFloats<T>(stream, out, LoopsOf<C>().normal, [=](C z) { return mean + deviation * z; });
    });
}
CX_NATIVE_KERNEL(RandomNormal)

// out[i] = start + ToBounded(bits[i], range); range 0 means 2^64.
template <typename T>
void ToRange(const uint64_t* bits, int64_t n, uint64_t start, uint64_t range, T* out) {
    if (range == 0) {
        for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(start + bits[i]);
    } else if (range >> 32 == 0) {
        // In 32-bit halves, for which all instruction sets have vector multiplications.
        const auto factor = static_cast<uint32_t>(range);
        for (int64_t i = 0; i < n; ++i) {
            const uint64_t low = (bits[i] & 0xffffffffu) * factor;
            const uint64_t high = (bits[i] >> 32) * factor;
            out[i] = static_cast<T>(start + ((high + (low >> 32)) >> 32));
        }
    } else {
        for (int64_t i = 0; i < n; ++i) {
            out[i] = static_cast<T>(start + philox::ToBounded(bits[i], range));
        }
    }
}

// out[i] = start + a number in the range, from the bits of element first + i, or from its substream
// if these are rejected.
template <typename T>
void ToShortRange(const philox::Stream& stream, int64_t first, const uint32_t* bits, int64_t n,
                  uint64_t start, uint32_t range, T* out) {
    const uint64_t least = RejectedBelow(range);
    uint64_t signs = 0;
    for (int64_t i = 0; i < n; ++i) {
        const uint64_t product = uint64_t{bits[i]} * range;
        signs |= (product & 0xffffffffu) - least;
        out[i] = static_cast<T>(start + (product >> 32));
    }
    if (signs >> 63 == 0) return;
    for (int64_t i = 0; i < n; ++i) {
        uint64_t product = uint64_t{bits[i]} * range;
        if ((product & 0xffffffffu) >= least) continue;
        Substream substream{stream, first + i};
        while ((product & 0xffffffffu) < least) product = uint64_t{substream.Next().v[0]} * range;
        out[i] = static_cast<T>(start + (product >> 32));
    }
}

// Calls f(first, count, bits), with random bits for each of `count` elements.
template <typename Bits, typename F>
void ForBits(const philox::Stream& stream, int64_t n, const F& f) {
    using Number = std::conditional_t<sizeof(Bits) == 4, float, double>;
    constexpr int64_t kPer = 16 / sizeof(Bits);
    const int64_t n_blocks = CeilDiv(n, kPer);
    ParallelFor(CeilDiv(n_blocks, kBlocksPerTask), [&](int64_t task) {
        alignas(64) Bits bits[kPer * kChunk];
        const int64_t end = std::min(n_blocks, (task + 1) * kBlocksPerTask);
        for (int64_t i = task * kBlocksPerTask; i < end; i += kChunk) {
            const int64_t blocks = std::min(kChunk, end - i);
            LoopsOf<Number>().bits(stream.seed, stream.call, static_cast<uint64_t>(i), blocks,
                                   bits);
            f(kPer * i, std::min(kPer * blocks, n - kPer * i), bits);
        }
    });
}

template <typename T>
void FillIntegers(const philox::Stream& stream, uint64_t start, uint64_t range, const Array& out) {
    T* to = reinterpret_cast<T*>(out.raw_data());
    const int64_t n = out.GetTotalSize();
    if (IsShortRange(range)) {
        ForBits<uint32_t>(stream, n, [=](int64_t first, int64_t count, const uint32_t* bits) {
            ToShortRange(stream, first, bits, count, start, static_cast<uint32_t>(range),
                         to + first);
        });
    } else {
        ForBits<uint64_t>(stream, n, [=](int64_t first, int64_t count, const uint64_t* bits) {
            ToRange(bits, count, start, range, to + first);
        });
    }
}

void RandomIntegers(const Array& state, int64_t low, uint64_t range, const Array& out) {
    const philox::Stream stream = NextCall(state);
    VisitInt(out.dtype(), [&]<typename T>() {
        FillIntegers<T>(stream, static_cast<uint64_t>(low), range, out);
    });
}
CX_NATIVE_KERNEL(RandomIntegers)

// Ends of ranges, int64 or uint64.
class Ends {
 public:
    explicit Ends(const Array& x) : bits_{x}, is_unsigned_{x.dtype() == Dtype::kUInt64} {}

    bool is_one() const { return bits_.is_one(); }
    RangeEnd operator[](int64_t i) const { return {static_cast<uint64_t>(bits_[i]), is_unsigned_}; }

 private:
    const Each<int64_t> bits_;
    const bool is_unsigned_;
};

template <typename T>
IntegerRange CheckedRange(int64_t i, const RangeEnd& low, const RangeEnd& high, bool closed) {
    const IntegerRange range = MakeRange<T>(low, high, closed);
    if (range.fault != RangeFault::kNone) {
        Fail(MakeRangeError(range.fault == RangeFault::kLow, range.fault == RangeFault::kEmpty,
                            closed, i,
                            range.fault == RangeFault::kLow ? low.ToDouble() : high.ToDouble()));
    }
    return range;
}

void RandomBetween(const Array& state, const Array& low, const Array& high, bool closed,
                   const Array& out) {
    const philox::Stream stream = NextCall(state);
    const Ends lows{low};
    const Ends highs{high};
    VisitInt(out.dtype(), [&]<typename T>() {
        if (out.GetTotalSize() != 0 && lows.is_one() && highs.is_one()) {
            const IntegerRange range = CheckedRange<T>(0, lows[0], highs[0], closed);
            FillIntegers<T>(stream, range.start, range.size, out);
            return;
        }
        T* to = reinterpret_cast<T*>(out.raw_data());
        ForBits<uint64_t>(
            stream, out.GetTotalSize(), [=](int64_t first, int64_t n, const uint64_t* bits) {
                for (int64_t i = first; i < first + n; ++i) {
                    const IntegerRange range = CheckedRange<T>(i, lows[i], highs[i], closed);
                    const uint64_t x = bits[i - first];
                    to[i] = static_cast<T>(
                        range.start + (range.size == 0 ? x : philox::ToBounded(x, range.size)));
                }
            });
    });
}
CX_NATIVE_KERNEL(RandomBetween)

// Fisher-Yates shuffle, from the end. Swaps depend on each other, so one thread does them; their
// targets are computed ahead.
template <typename T>
void Shuffle(const philox::Stream& stream, int64_t n, T* p) {
    constexpr int64_t kAhead = 16;
    int64_t targets[2 * kChunk + kAhead];
    for (int64_t i = 0; i < n; ++i) p[i] = static_cast<T>(i);
    for (int64_t block = 0; 2 * block < n - 1; block += kChunk) {
        alignas(64) uint64_t bits[2 * kChunk];
        LoopsOf<double>().bits(stream.seed, stream.call, static_cast<uint64_t>(block), kChunk,
                               bits);
        const int64_t last = n - 1 - 2 * block;
        const int64_t count = std::min(2 * kChunk, last);
        for (int64_t k = 0; k < count; ++k) {
            const auto range = static_cast<uint64_t>(last - k + 1);
            targets[k] = static_cast<int64_t>(philox::ToBounded(bits[k], range));
        }
        std::fill_n(targets + count, kAhead, int64_t{0});
        for (int64_t k = 0; k < count; ++k) {
            __builtin_prefetch(p + targets[k + kAhead], 1);
            std::swap(p[last - k], p[targets[k]]);
        }
        if (block % (1 << 13) == 0) internal::CheckInterrupt();
    }
}

void RandomPermutation(const Array& state, const Array& out) {
    const philox::Stream stream = NextCall(state);
    auto* p = reinterpret_cast<int64_t*>(out.raw_data());
    const int64_t n = out.GetTotalSize();
    if (n > std::numeric_limits<int32_t>::max()) return Shuffle(stream, n, p);
    // Shuffles 32-bit indices, in half the memory, so that more of it is in cache: in the upper
    // half of the array, which is read before it is overwritten.
    auto* half = reinterpret_cast<int32_t*>(p) + n;
    Shuffle(stream, n, half);
    for (int64_t i = 0; i < n; ++i) {
        int32_t value;
        std::memcpy(&value, half + i, sizeof(value));
        p[i] = value;
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
    const auto threshold = DropoutThreshold(ratio);
    const int64_t n = x.GetTotalSize();
    const int64_t groups = CeilDiv(n, kGroup);
    VisitFloat(x.dtype(), [&]<typename T>() {
        using C = ComputeType<T>;
        const C scale = static_cast<C>(1 / (1 - ratio));
        const T* from = reinterpret_cast<const T*>(x.raw_data());
        T* to = reinterpret_cast<T*>(out.raw_data());
        // Handles groups first, ..., end - 1 of the array.
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
                constexpr int64_t kChunk = 32;  // groups: 4 KiB of floats
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
