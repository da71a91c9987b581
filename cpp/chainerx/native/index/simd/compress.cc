// SIMD compress. No branch depends on a single element: whole vectors are stored, and the next
// store overwrites the excess.
#include <bit>
#include <cstring>

#include "chainerx/native/index/compress_loops.h"
#include "chainerx/native/sort/simd/shuffle_tables.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/strided/simd/movemask.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

int64_t Count(const uint8_t* mask, int64_t n) {
    int64_t count = 0;
    int64_t i = 0;
    for (; i + kGroup <= n; i += kGroup) count += std::popcount(MoveMask(mask + i));
    return i < n ? count + std::popcount(MoveMask(mask + i, n - i)) : count;
}

// A source holds the elements of a group: Get(i), and Keep(bits, out), which writes those whose
// bits are set, may overwrite all kGroup places, and returns the number kept.
template <typename Source, typename T>
int64_t KeepOneByOne(uint64_t bits, const Source& source, T* out, int64_t room) {
    int64_t kept = 0;
    for (; bits != 0 && kept < room; bits &= bits - 1) {
        out[kept++] = source.Get(std::countr_zero(bits));
    }
    return kept;
}

template <typename T, typename SourceAt>
inline int64_t Compress(const uint8_t* mask, int64_t n, T* out, int64_t room, const SourceAt& at) {
    int64_t kept = 0;
    int64_t i = 0;
    for (; i + kGroup <= n; i += kGroup) {
        const uint64_t bits = MoveMask(mask + i);
        if (bits == 0) continue;
        if (room - kept >= kGroup) [[likely]] {
            kept += at(i).Keep(bits, out + kept);
        } else {
            kept += KeepOneByOne(bits, at(i), out + kept, room - kept);
        }
    }
    if (i < n) kept += KeepOneByOne(MoveMask(mask + i, n - i), at(i), out + kept, room - kept);
    return kept;
}

// Calls keep(i, lanes, out) for kLanes lanes at a time; it stores a vector in which the selected
// lanes come first.
template <int kLanes, typename T, typename F>
inline int64_t KeepVectors(uint64_t bits, T* out, const F& keep) {
    constexpr uint64_t kAll = (uint64_t{1} << kLanes) - 1;
    int64_t kept = 0;
#pragma GCC unroll 4
    for (int64_t i = 0; i < kGroup; i += kLanes) {
        const auto lanes = static_cast<uint32_t>(bits >> i & kAll);
        keep(i, lanes, out + kept);
        kept += std::popcount(lanes);
    }
    return kept;
}

struct Places {
    int64_t first;

    int64_t Get(int64_t i) const { return first + i; }
    int64_t Keep(uint64_t bits, int64_t* out) const {
#if defined(CX_ISA_AVX512)
        __m512i v =
            _mm512_add_epi64(_mm512_set1_epi64(first), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
        return KeepVectors<8>(bits, out, [&v](int64_t, uint32_t lanes, int64_t* to) {
            const auto set = static_cast<__mmask8>(lanes);
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(set, v));
            v = _mm512_add_epi64(v, _mm512_set1_epi64(8));
        });
#elif defined(CX_ISA_AVX2)
        __m256i v = _mm256_add_epi64(_mm256_set1_epi64x(first), _mm256_setr_epi64x(0, 1, 2, 3));
        return KeepVectors<4>(bits, out, [&v](int64_t, uint32_t lanes, int64_t* to) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), ArrangeLanes<4>(lanes, v));
            v = _mm256_add_epi64(v, _mm256_set1_epi64x(4));
        });
#else
        return KeepOneByOne(bits, *this, out, kGroup);
#endif
    }
};

int64_t KeepPlaces(const uint8_t* mask, int64_t n, int64_t begin, int64_t* out, int64_t room) {
    return Compress(mask, n, out, room, [begin](int64_t i) { return Places{begin + i}; });
}

// A 16-byte item.
struct Item16 {
    uint64_t halves[2];
};

template <typename T>
int64_t KeepItemsOf(uint64_t bits, const T* x, T* out) {
    constexpr int kSize = sizeof(T);
#if defined(CX_ISA_AVX512)
    if constexpr (kSize == 16) {
        return KeepVectors<4>(bits, out, [x](int64_t i, uint32_t lanes, T* to) {
            // Maps each set of three bits to a byte: every bit doubled.
            constexpr uint64_t kTwice = 0x3f3c33300f0c0300;
            const auto low = static_cast<uint32_t>(kTwice >> (lanes & 7) * 8 & 0xff);
            const auto set = static_cast<__mmask8>(low | (lanes >> 3) * 0xc0);
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(set, _mm512_loadu_si512(x + i)));
        });
    } else if constexpr (kSize == 8) {
        return KeepVectors<8>(bits, out, [x](int64_t i, uint32_t lanes, T* to) {
            const auto set = static_cast<__mmask8>(lanes);
            _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(set, _mm512_loadu_si512(x + i)));
        });
    } else {
        // Widens shorter items to lanes of four bytes, since AVX-512's compress of 8-bit and 16-bit
        // lanes needs newer processors.
        return KeepVectors<16>(bits, out, [x](int64_t i, uint32_t lanes, T* to) {
            const auto set = static_cast<__mmask16>(lanes);
            if constexpr (kSize == 4) {
                const __m512i v = _mm512_loadu_si512(x + i);
                _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(set, v));
            } else if constexpr (kSize == 2) {
                const auto* from = reinterpret_cast<const __m256i*>(x + i);
                const __m512i v = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from));
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                                    _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(set, v)));
            } else {
                const auto* from = reinterpret_cast<const __m128i*>(x + i);
                const __m512i v = _mm512_cvtepu8_epi32(_mm_loadu_si128(from));
                _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                                 _mm512_cvtepi32_epi8(_mm512_maskz_compress_epi32(set, v)));
            }
        });
    }
#else
#if defined(CX_ISA_AVX2)
    if constexpr (kSize == 4 || kSize == 8) {
        constexpr int kLanes = 32 / kSize;
        return KeepVectors<kLanes>(bits, out, [x](int64_t i, uint32_t lanes, T* to) {
            const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), ArrangeLanes<kLanes>(lanes, v));
        });
    }
#endif
#if defined(__SSSE3__)
    if constexpr (kSize == 1) {
        return KeepVectors<8>(bits, out, [x](int64_t i, uint32_t lanes, T* to) {
            const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(x + i));
            _mm_storel_epi64(reinterpret_cast<__m128i*>(to), ArrangeBytes<1>(lanes, v));
        });
    } else if constexpr (kSize < 16) {
        return KeepVectors<16 / kSize>(bits, out, [x](int64_t i, uint32_t lanes, T* to) {
            const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to), ArrangeBytes<kSize>(lanes, v));
        });
    }
#endif
    int64_t kept = 0;
    for (int64_t i = 0; i < kGroup; ++i) {
        out[kept] = x[i];
        kept += static_cast<int64_t>(bits >> i & 1);
    }
    return kept;
#endif
}

template <typename T>
struct Items {
    const T* x;

    T Get(int64_t i) const { return x[i]; }
    int64_t Keep(uint64_t bits, T* out) const {
        if (bits == ~uint64_t{0}) {
            std::memcpy(out, x, kGroup * sizeof(T));
            return kGroup;
        }
        return KeepItemsOf(bits, x, out);
    }
};

template <typename T>
int64_t KeepItems(const uint8_t* mask, int64_t n, const void* x, void* out, int64_t room) {
    const T* from = static_cast<const T*>(x);
    return Compress(mask, n, static_cast<T*>(out), room,
                    [from](int64_t i) { return Items<T>{from + i}; });
}

}  // namespace

CX_EXPORT_LOOPS(CompressLoops){&Count,
                               &KeepPlaces,
                               {&KeepItems<uint8_t>, &KeepItems<uint16_t>, &KeepItems<uint32_t>,
                                &KeepItems<uint64_t>, &KeepItems<Item16>}};

}  // namespace chainerx::native::CX_ISA
