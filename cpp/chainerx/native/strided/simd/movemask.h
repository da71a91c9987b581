// movemask: turns mask bytes into bits; any byte but 0 is true.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(CX_ISA_AVX512) || defined(CX_ISA_AVX2)
#include <immintrin.h>
#endif

namespace chainerx::native::CX_ISA {
namespace {

constexpr int64_t kGroup = 64;  // bytes of a mask that become the bits of one integer

inline uint64_t MoveMask(const uint8_t* mask) {
#if defined(CX_ISA_AVX512)
    const __m512i v = _mm512_loadu_si512(mask);
    return _mm512_test_epi8_mask(v, v);
#elif defined(CX_ISA_AVX2)
    const auto zeros = [mask](int64_t i) {
        const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask + i));
        const __m256i is_zero = _mm256_cmpeq_epi8(v, _mm256_setzero_si256());
        return uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(is_zero))};
    };
    return ~(zeros(0) | zeros(32) << 32);
#else
    uint64_t bits = 0;
    for (int64_t i = 0; i < kGroup; i += 8) {
        uint64_t word;
        std::memcpy(&word, mask + i, sizeof(word));
        // Moves "is nonzero" to the upper bit of each byte, then gathers the eight bits.
        constexpr uint64_t kRest = 0x7f7f7f7f7f7f7f7f;
        const uint64_t is_true = (((word & kRest) + kRest) | word) & ~kRest;
        bits |= ((is_true >> 7) * 0x0102040810204080 >> 56) << i;
    }
    return bits;
#endif
}

// The mask of fewer than kGroup bytes.
inline uint64_t MoveMask(const uint8_t* mask, int64_t n) {
    uint8_t part[kGroup] = {};
    for (int64_t i = 0; i < n; ++i) part[i] = mask[i];
    return MoveMask(part);
}

}  // namespace
}  // namespace chainerx::native::CX_ISA
