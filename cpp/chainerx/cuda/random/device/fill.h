// Uniform numbers, integers, and dropout. A thread fills what one Philox block gives.
#pragma once

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/random/device/calls.h"
#include "chainerx/kernels/random/short_range.h"
#include "chainerx/native/random/random.h"
#include "chainerx/native/random/substream.h"

namespace chainerx::cuda {

template <typename T, int kWidth>
struct alignas(sizeof(T) * kWidth < 16 ? sizeof(T) * kWidth : 16) Numbers {
    T v[kWidth];
};

template <typename T, int kWidth>
inline void StoreNumbers(const Ptr<char>& to, int64_t size, int64_t first,
                         const Numbers<T, kWidth>& y) {
    T* out = At<T>(to) + first;
    if (first + kWidth <= size &&
        reinterpret_cast<uintptr_t>(out) % alignof(Numbers<T, kWidth>) == 0) {
        *reinterpret_cast<Numbers<T, kWidth>*>(out) = y;
        return;
    }
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
        if (first + j < size) out[j] = y.v[j];
    }
}

inline void ToUniforms(const philox::Block& block, float (&u)[4]) {
#pragma unroll
    for (int j = 0; j < 4; ++j) u[j] = philox::ToUniform(block.v[j]);
}
inline void ToUniforms(const philox::Block& block, double (&u)[2]) {
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        u[j] = philox::ToUniform(philox::Join(block.v[2 * j], block.v[2 * j + 1]));
    }
}
// 16-bit floats are drawn as float32 and rounded.
template <typename T>
inline constexpr int kFloatsOfBlock = 16 / sizeof(Number<T>);

template <typename T>
inline void FillUniform(const FillParams& p) {
    using C = Number<T>;
    constexpr int kWidth = kFloatsOfBlock<T>;
    const philox::Stream stream = StreamOf(p.call);
    const int64_t i = ThreadNumber();
    if (i * kWidth >= p.size) return;
    C u[kWidth];
    ToUniforms(stream.Get(static_cast<uint64_t>(i)), u);
    const C first = static_cast<C>(p.range[0]);
    const C width = static_cast<C>(p.range[1]);
    const C last = static_cast<C>(p.range[2]);
    Numbers<T, kWidth> y;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
        const C sum = first + width * u[j];
        const C x = last < sum ? last : sum;
        y.v[j] = static_cast<T>(p.negates ? -x : x);
    }
    StoreNumbers(p.out, p.size, i * kWidth, y);
}

// Elements first, ..., first + 3 from 32 bits each, for ranges that IsShortRange() allows.
template <typename T>
inline Numbers<T, 4> DrawShortIntegers(const philox::Stream& stream, int64_t first, uint64_t start,
                                       uint32_t range) {
    const uint32_t least = RejectedBelow(range);
    const philox::Block block = stream.Get(static_cast<uint64_t>(first / 4));
    Numbers<T, 4> y;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
        uint64_t product = static_cast<uint64_t>(block.v[j]) * range;
        if (static_cast<uint32_t>(product) < least) {
            native::Substream substream{stream, first + j};
            do {
                product = static_cast<uint64_t>(substream.Next().v[0]) * range;
            } while (static_cast<uint32_t>(product) < least);
        }
        y.v[j] = static_cast<T>(start + (product >> 32));
    }
    return y;
}
// From 64 bits each; range 0 means 2^64.
template <typename T>
inline Numbers<T, 2> DrawIntegers(const philox::Stream& stream, int64_t first, uint64_t start,
                                  uint64_t range) {
    const philox::Block block = stream.Get(static_cast<uint64_t>(first / 2));
    Numbers<T, 2> y;
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        const uint64_t bits = philox::Join(block.v[2 * j], block.v[2 * j + 1]);
        y.v[j] = static_cast<T>(start + (range == 0 ? bits : philox::ToBounded(bits, range)));
    }
    return y;
}

template <typename T>
inline void FillShortIntegers(const FillParams& p) {
    const philox::Stream stream = StreamOf(p.call);
    const int64_t first = 4 * ThreadNumber();
    if (first >= p.size) return;
    const auto range = static_cast<uint32_t>(p.count);
    StoreNumbers(p.out, p.size, first, DrawShortIntegers<T>(stream, first, p.start, range));
}
template <typename T>
inline void FillIntegers(const FillParams& p) {
    const philox::Stream stream = StreamOf(p.call);
    const int64_t first = 2 * ThreadNumber();
    if (first >= p.size) return;
    StoreNumbers(p.out, p.size, first, DrawIntegers<T>(stream, first, p.start, p.count));
}

// A thread takes one Philox block of eight: every eighth element of 32.
template <typename T>
inline void DropElements(const DropoutParams& p) {
    using C = Number<T>;
    const philox::Stream stream{p.key[0], p.key[1]};
    const int64_t block = ThreadNumber();
    const int64_t first = block / 8 * 32 + block % 8;
    if (first >= p.size) return;
    const philox::Block bits = stream.Get(static_cast<uint64_t>(block));
    const C scale = static_cast<C>(p.scale);
    const T* in = At<const T>(p.in);
    T* out = At<T>(p.out);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const int64_t i = first + 8 * k;
        if (i >= p.size) return;
        out[i] = static_cast<T>(static_cast<C>(in[i]) * (bits.v[k] < p.threshold ? C(0) : scale));
    }
}

}  // namespace chainerx::cuda
