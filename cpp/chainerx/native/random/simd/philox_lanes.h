// Eight Philox blocks in parallel (native/random/random.h), word by word or in memory order.
#pragma once

#include <cstdint>

#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

constexpr int kLanes = 8;

// Word k of each block.
struct Lanes {
    alignas(64) uint32_t v[4][kLanes];
};

// One 64-bit lane per block, whose lower half holds the word: the operand format of 32 x 32 -> 64
// multiplication, so products need no shuffles.
#if defined(CX_ISA_AVX512)
struct Wide {
    __m512i all;

    static Wide Of(uint64_t v) { return {_mm512_set1_epi64(static_cast<int64_t>(v))}; }
    static Wide From(uint64_t first) {
        return {_mm512_add_epi64(Of(first).all, _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7))};
    }
    Wide Times(uint32_t factor) const { return {_mm512_mul_epu32(all, Of(factor).all)}; }
    Wide High() const { return {_mm512_srli_epi64(all, 32)}; }
    static Wide Xor(const Wide& a, const Wide& b, const Wide& c) {
        return {_mm512_ternarylogic_epi64(a.all, b.all, c.all, 0x96)};
    }
    void Store(uint32_t* to) const {
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi64_epi32(all));
    }
    // Stores the words block by block.
    static void StoreInOrder(const Wide (&v)[4], uint32_t* to) {
        const __m512i a =
            _mm512_mask_blend_epi32(0xaaaa, v[0].all, _mm512_slli_epi64(v[1].all, 32));
        const __m512i b =
            _mm512_mask_blend_epi32(0xaaaa, v[2].all, _mm512_slli_epi64(v[3].all, 32));
        const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
        const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
        _mm512_storeu_si512(to, _mm512_permutex2var_epi64(a, low, b));
        _mm512_storeu_si512(to + 2 * kLanes, _mm512_permutex2var_epi64(a, high, b));
    }
};
#elif defined(CX_ISA_AVX2)
struct Wide {
    __m256i half[2];

    static Wide Of(uint64_t v) {
        const __m256i x = _mm256_set1_epi64x(static_cast<int64_t>(v));
        return {{x, x}};
    }
    static Wide From(uint64_t first) {
        const Wide x = Of(first);
        return {{_mm256_add_epi64(x.half[0], _mm256_setr_epi64x(0, 1, 2, 3)),
                 _mm256_add_epi64(x.half[1], _mm256_setr_epi64x(4, 5, 6, 7))}};
    }
    Wide Times(uint32_t factor) const {
        const __m256i f = _mm256_set1_epi64x(factor);
        return {{_mm256_mul_epu32(half[0], f), _mm256_mul_epu32(half[1], f)}};
    }
    Wide High() const { return {{_mm256_srli_epi64(half[0], 32), _mm256_srli_epi64(half[1], 32)}}; }
    static Wide Xor(const Wide& a, const Wide& b, const Wide& c) {
        const auto one = [&](int i) {
            return _mm256_xor_si256(_mm256_xor_si256(a.half[i], b.half[i]), c.half[i]);
        };
        return {{one(0), one(1)}};
    }
    void Store(uint32_t* to) const {
        const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
        const __m256i a = _mm256_permutevar8x32_epi32(half[0], even);
        const __m256i b = _mm256_permutevar8x32_epi32(half[1], even);
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm256_blend_epi32(a, b, 0xf0));
    }
    static void StoreInOrder(const Wide (&v)[4], uint32_t* to) {
        for (int i = 0; i < 2; ++i, to += 2 * kLanes) {
            const auto join = [&](int k) {
                return _mm256_blend_epi32(v[k].half[i], _mm256_slli_epi64(v[k + 1].half[i], 32),
                                          0xaa);
            };
            const __m256i a = join(0);
            const __m256i b = join(2);
            const __m256i even = _mm256_unpacklo_epi64(a, b);
            const __m256i odd = _mm256_unpackhi_epi64(a, b);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                                _mm256_permute2x128_si256(even, odd, 0x20));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + kLanes),
                                _mm256_permute2x128_si256(even, odd, 0x31));
        }
    }
};
#else
// Plain loops, which the compiler vectorizes.
struct Wide {
    uint64_t lane[kLanes];

    static Wide Of(uint64_t v) {
        Wide x;
        for (uint64_t& lane : x.lane) lane = v;
        return x;
    }
    static Wide From(uint64_t first) {
        Wide x;
        for (int l = 0; l < kLanes; ++l) x.lane[l] = first + static_cast<uint64_t>(l);
        return x;
    }
    Wide Times(uint32_t factor) const {
        Wide x;
        for (int l = 0; l < kLanes; ++l) x.lane[l] = (lane[l] & 0xffffffffu) * factor;
        return x;
    }
    Wide High() const {
        Wide x;
        for (int l = 0; l < kLanes; ++l) x.lane[l] = lane[l] >> 32;
        return x;
    }
    static Wide Xor(const Wide& a, const Wide& b, const Wide& c) {
        Wide x;
        for (int l = 0; l < kLanes; ++l) x.lane[l] = a.lane[l] ^ b.lane[l] ^ c.lane[l];
        return x;
    }
    void Store(uint32_t* to) const {
        for (int l = 0; l < kLanes; ++l) to[l] = static_cast<uint32_t>(lane[l]);
    }
    static void StoreInOrder(const Wide (&v)[4], uint32_t* to) {
        for (int l = 0; l < kLanes; ++l) {
            for (int k = 0; k < 4; ++k) to[4 * l + k] = static_cast<uint32_t>(v[k].lane[l]);
        }
    }
};
#endif

// Generates blocks first, ..., first + 7.
inline void Generate(uint64_t seed, uint64_t call, uint64_t first, Wide (&v)[4]) {
    v[0] = Wide::From(first);
    v[1] = v[0].High();
    v[2] = Wide::Of(call);
    v[3] = v[2].High();
    auto key0 = static_cast<uint32_t>(seed);
    auto key1 = static_cast<uint32_t>(seed >> 32);
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
        const Wide p0 = v[0].Times(0xD2511F53u);
        const Wide p1 = v[2].Times(0xCD9E8D57u);
        v[0] = Wide::Xor(p1.High(), v[1], Wide::Of(key0));
        v[1] = p1;
        v[2] = Wide::Xor(p0.High(), v[3], Wide::Of(key1));
        v[3] = p0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}
inline void Generate(uint64_t seed, uint64_t call, uint64_t first, Lanes* x) {
    Wide v[4];
    Generate(seed, call, first, v);
    for (int k = 0; k < 4; ++k) v[k].Store(x->v[k]);
}
// In memory order: four words per block.
inline void GenerateInOrder(uint64_t seed, uint64_t call, uint64_t first, uint32_t* words) {
    Wide v[4];
    Generate(seed, call, first, v);
    Wide::StoreInOrder(v, words);
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
