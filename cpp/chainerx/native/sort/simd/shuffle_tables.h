// Shuffle tables that compress lanes: they move the lanes of a set to the front, for instruction
// sets without a compress instruction.
#pragma once

#include <cstdint>

#include "chainerx/native/strided/simd/batch.h"

namespace chainerx::native::CX_ISA {
namespace {

// For each set of lanes: the lanes in it, then the others, as indices of units, of which a lane has
// kUnits.
template <typename Unit, int kLanes, int kUnits>
struct ShuffleTables {
    static constexpr int kSize = kLanes * kUnits;
    alignas(kSize * sizeof(Unit)) Unit units[1 << kLanes][kSize];

    constexpr ShuffleTables() : units{} {
        for (int set = 0; set < 1 << kLanes; ++set) {
            int at = 0;
            for (const bool wanted : {true, false}) {
                for (int lane = 0; lane < kLanes; ++lane) {
                    if ((set >> lane & 1) != static_cast<int>(wanted)) continue;
                    for (int u = 0; u < kUnits; ++u) {
                        units[set][at++] = static_cast<Unit>(lane * kUnits + u);
                    }
                }
            }
        }
    }
};
template <typename Unit, int kLanes, int kUnits>
constexpr ShuffleTables<Unit, kLanes, kUnits> kShuffleTables{};

#if defined(__AVX2__)

// The table for 8 or 4 lanes.
template <int64_t kLanes>
inline __m256i ArrangeLanes(uint32_t lanes, __m256i v) {
    const auto* order = kShuffleTables<int32_t, kLanes, 8 / kLanes>.units[lanes];
    return _mm256_permutevar8x32_epi32(v,
                                       _mm256_load_si256(reinterpret_cast<const __m256i*>(order)));
}

#endif
#if defined(__SSSE3__)

// The table for lanes of kSize bytes: 8 of one or two, 4 of four, 2 of eight.
template <int kSize>
inline __m128i ArrangeBytes(uint32_t lanes, __m128i v) {
    constexpr int kLanes = kSize == 1 ? 8 : 16 / kSize;
    const auto* order =
        reinterpret_cast<const __m128i*>(kShuffleTables<uint8_t, kLanes, kSize>.units[lanes]);
    return _mm_shuffle_epi8(v, kSize == 1 ? _mm_loadl_epi64(order) : _mm_load_si128(order));
}

#endif

}  // namespace
}  // namespace chainerx::native::CX_ISA
