// Uniform and normal numbers from Philox blocks: RandomLoops.
#pragma once

#include <cstdint>

#include "chainerx/native/random/number_loops.h"
#include "chainerx/native/random/simd/normal_pairs.h"
#include "chainerx/native/random/simd/philox_lanes.h"

namespace chainerx::native::CX_ISA {
namespace {

constexpr int kWords = 4 * kLanes;

// Calls f(words, group): `group` takes the numbers of eight blocks.
template <typename T, typename F>
inline void ForGroups(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out, const F& f) {
    constexpr int64_t kPer = 16 / sizeof(T);
    alignas(64) uint32_t words[kWords];
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        GenerateInOrder(seed, call, first + static_cast<uint64_t>(i), words);
        f(words, out + i * kPer);
    }
    if (i < n) {
        T group[kLanes * kPer];
        GenerateInOrder(seed, call, first + static_cast<uint64_t>(i), words);
        f(words, group);
        for (int64_t j = 0; j < (n - i) * kPer; ++j) out[i * kPer + j] = group[j];
    }
}

// The i-th number of 64 bits.
inline uint64_t Word64(const uint32_t* words, int i) {
    return static_cast<uint64_t>(words[2 * i + 1]) << 32 | words[2 * i];
}

inline void UniformGroup(const uint32_t* words, float* out) {
    for (int i = 0; i < kWords; ++i) {
        out[i] = static_cast<float>(static_cast<int32_t>(words[i] >> 8)) * 0x1p-24f;
    }
}
inline void UniformGroup(const uint32_t* words, double* out) {
    for (int i = 0; i < kWords / 2; ++i) {
        out[i] = static_cast<double>(static_cast<int64_t>(Word64(words, i) >> 11)) * 0x1p-53;
    }
}

template <typename T>
void Uniform(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out) {
    ForGroups(seed, call, first, n, out,
              [](const uint32_t* words, T* to) { UniformGroup(words, to); });
}

template <typename B>
void Bits(uint64_t seed, uint64_t call, uint64_t first, int64_t n, B* out) {
    ForGroups(seed, call, first, n, out, [](const uint32_t* words, B* to) {
        for (int i = 0; i < static_cast<int>(kWords * 4 / sizeof(B)); ++i) {
            to[i] = sizeof(B) == 4 ? static_cast<B>(words[i]) : static_cast<B>(Word64(words, i));
        }
    });
}

// Shuffles that separate the even and odd words of two registers, and that interleave pairs again.
#if defined(CX_ISA_AVX512)
#define CX_FLOATS(name) _mm512_##name
#elif defined(CX_ISA_AVX2)
#define CX_FLOATS(name) _mm256_##name
#elif defined(__SSE2__)
#define CX_FLOATS(name) _mm_##name
#endif

inline void NormalGroup(const uint32_t* words, float* out) {
    constexpr int kSize = static_cast<int>(BatchF::size);
#if defined(CX_FLOATS)
    for (int i = 0; i < kWords; i += 2 * kSize) {
        const auto a = CX_FLOATS(loadu_ps)(reinterpret_cast<const float*>(words + i));
        const auto b = CX_FLOATS(loadu_ps)(reinterpret_cast<const float*>(words + i + kSize));
        const BatchF even(CX_FLOATS(shuffle_ps)(a, b, 0x88));
        const BatchF odd(CX_FLOATS(shuffle_ps)(a, b, 0xdd));
        const NormalPairs pairs{xsimd::bitwise_cast<uint32_t>(even),
                                xsimd::bitwise_cast<uint32_t>(odd)};
        CX_FLOATS(storeu_ps)(out + i, CX_FLOATS(unpacklo_ps)(pairs.cosines, pairs.sines));
        CX_FLOATS(storeu_ps)(out + i + kSize, CX_FLOATS(unpackhi_ps)(pairs.cosines, pairs.sines));
    }
#else
    for (int i = 0; i < kWords; i += 2 * kSize) {
        alignas(64) uint32_t even[kSize];
        alignas(64) uint32_t odd[kSize];
        for (int j = 0; j < kSize; ++j) {
            even[j] = words[i + 2 * j];
            odd[j] = words[i + 2 * j + 1];
        }
        const NormalPairs pairs{Batch<uint32_t>::load_aligned(even),
                                Batch<uint32_t>::load_aligned(odd)};
        alignas(64) float z[2][kSize];
        pairs.cosines.store_aligned(z[0]);
        pairs.sines.store_aligned(z[1]);
        for (int j = 0; j < kSize; ++j) {
            out[i + 2 * j] = z[0][j];
            out[i + 2 * j + 1] = z[1][j];
        }
    }
#endif
}
#undef CX_FLOATS

inline void NormalGroup(const uint32_t* words, double* out) {
    constexpr int kSize = static_cast<int>(BatchD::size);
    alignas(64) double u[kLanes];
    alignas(64) double angle[kLanes];
    for (int l = 0; l < kLanes; ++l) {
        u[l] = ToLogArgument(Word64(words, 2 * l));
        angle[l] = ToAngle(Word64(words, 2 * l + 1));
    }
    for (int i = 0; i < kLanes; i += kSize) {
        BatchD x = BatchD::load_aligned(u + i);
        BatchD y = BatchD::load_aligned(angle + i);
        ToNormalPair(x, y);
        x.store_aligned(u + i);
        y.store_aligned(angle + i);
    }
    for (int l = 0; l < kLanes; ++l) {
        out[2 * l] = u[l];
        out[2 * l + 1] = angle[l];
    }
}

template <typename T>
void Normal(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out) {
    ForGroups(seed, call, first, n, out,
              [](const uint32_t* words, T* to) { NormalGroup(words, to); });
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
