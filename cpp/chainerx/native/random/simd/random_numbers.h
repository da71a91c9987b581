// Uniform and normal numbers from Philox blocks: RandomLoops.
#pragma once

#include <cstdint>

#include "chainerx/native/math/simd/math.h"
#include "chainerx/native/random/number_loops.h"
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

// Box-Muller pairs from `u` and `turn`: see philox::ToNormals.
struct NormalPairs {
    BatchF cosines;
    BatchF sines;

    NormalPairs(const Batch<uint32_t>& u, const Batch<uint32_t>& turn) {
        using Int = Batch<int32_t>;
        const auto to_float = [](const Batch<uint32_t>& x) {
            return xsimd::to_float(xsimd::bitwise_cast<int32_t>(x));
        };
        // With a single rounding.
        const BatchF whole =
            to_float(u >> 16) * BatchF(65536.0f) + to_float(u & Batch<uint32_t>(0xffffu));
        const BatchF radius =
            xsimd::sqrt(math::Log((whole + BatchF(0.5f)) * BatchF(0x1p-32f)) * BatchF(-2.0f));
        const BatchF quarters = to_float(turn >> 8) * BatchF(0x1p-22f);
        const BatchF n = xsimd::nearbyint(quarters);
        const BatchF r = quarters - n;  // exact
        const BatchF z = r * r;
        const BatchF sine = r * Up(z, {1.5707963705062866f, -0.6459634900093079f,
                                       0.07968022674322128f, -0.004602177068591118f});
        const BatchF cosine = Up(z, {-1.2337005138397217f, 0.253669410943985f,
                                     -0.02086152881383896f, 0.0009067435166798532f}) *
                                  z +
                              BatchF(1.0f);
        const Int quadrant = xsimd::to_int(n);
        const auto odd = xsimd::batch_bool_cast<float>((quadrant & Int(1)) != Int(0));
        const auto sign = [](const Int& q) {
            return xsimd::bitwise_cast<float>((q & Int(2)) << 30);
        };
        cosines = radius * (math::Where(odd, sine, cosine) ^ sign(quadrant + Int(1)));
        sines = radius * (math::Where(odd, cosine, sine) ^ sign(quadrant));
    }

 private:
    static BatchF Up(const BatchF& z, const float (&c)[4]) {
        BatchF y(c[3]);
        for (int i = 2; i >= 0; --i) y = y * z + BatchF(c[i]);
        return y;
    }
};

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
        const uint64_t first = Word64(words, 2 * l) >> 11;
        const uint64_t second = Word64(words, 2 * l + 1) >> 11;
        u[l] = static_cast<double>(static_cast<int64_t>(first) + 1) * 0x1p-53;
        angle[l] = static_cast<double>(static_cast<int64_t>(second)) * 0x1p-53 * 6.283185307179586;
    }
    for (int i = 0; i < kLanes; i += kSize) {
        const BatchD radius = xsimd::sqrt(math::Log(BatchD::load_aligned(u + i)) * BatchD(-2.0));
        const BatchD a = BatchD::load_aligned(angle + i);
        (radius * math::Cos(a)).store_aligned(u + i);
        (radius * math::Sin(a)).store_aligned(angle + i);
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
