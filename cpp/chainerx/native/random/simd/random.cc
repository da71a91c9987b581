// SIMD loops of random numbers and dropout.
#include "chainerx/native/random/number_loops.h"
#include "chainerx/native/random/simd/philox_lanes.h"
#include "chainerx/native/random/simd/random_numbers.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

#if defined(CX_ISA_AVX2) || defined(CX_ISA_AVX512)
// Dropout of eight elements; all bits of a lane of `keep` are set if it is kept.
inline void Drop(__m256i keep, float scale, const float* x, float* y) {
    const __m256 factor = _mm256_and_ps(_mm256_castsi256_ps(keep), _mm256_set1_ps(scale));
    _mm256_storeu_ps(y, _mm256_mul_ps(_mm256_loadu_ps(x), factor));
}
inline void Drop(__m256i keep, double scale, const double* x, double* y) {
    const __m128i halves[2] = {_mm256_castsi256_si128(keep), _mm256_extracti128_si256(keep, 1)};
    for (int i = 0; i < 2; ++i) {
        const __m256d lanes = _mm256_castsi256_pd(_mm256_cvtepi32_epi64(halves[i]));
        const __m256d factor = _mm256_and_pd(lanes, _mm256_set1_pd(scale));
        _mm256_storeu_pd(y + 4 * i, _mm256_mul_pd(_mm256_loadu_pd(x + 4 * i), factor));
    }
}

template <typename T>
inline void DropGroup(const Lanes& bits, uint32_t threshold, T scale, const T* x, T* y) {
    const __m256i least = _mm256_set1_epi32(static_cast<int>(threshold));
    for (int k = 0; k < 4; ++k) {
        const __m256i b = _mm256_load_si256(reinterpret_cast<const __m256i*>(bits.v[k]));
        // b >= least; there is no unsigned comparison.
        Drop(_mm256_cmpeq_epi32(_mm256_max_epu32(b, least), b), scale, x + k * kLanes,
             y + k * kLanes);
    }
}
#else
template <typename T>
inline void DropGroup(const Lanes& bits, uint32_t threshold, T scale, const T* x, T* y) {
    for (int k = 0; k < 4; ++k) {
        for (int l = 0; l < kLanes; ++l) {
            y[k * kLanes + l] = x[k * kLanes + l] * (bits.v[k][l] < threshold ? T(0) : scale);
        }
    }
}
#endif

template <typename T>
void Dropout(uint64_t seed, uint64_t call, uint64_t first, int64_t n, int64_t missing,
             uint32_t threshold, T scale, const T* x, T* y) {
    constexpr int64_t kGroup = 4 * kLanes;
    Lanes bits;
    for (int64_t i = 0; i < n; ++i, x += kGroup, y += kGroup) {
        Generate(seed, call, first + static_cast<uint64_t>(i * kLanes), &bits);
        if (i + 1 < n || missing == 0) {
            DropGroup(bits, threshold, scale, x, y);
            continue;
        }
        T part[kGroup] = {};
        for (int64_t j = 0; j < kGroup - missing; ++j) part[j] = x[j];
        DropGroup(bits, threshold, scale, part, part);
        for (int64_t j = 0; j < kGroup - missing; ++j) y[j] = part[j];
    }
}

template <typename T>
constexpr RandomLoops<T> kLoops = {Uniform<T>, Normal<T>, Bits<BitsOf<T>>, Dropout<T>};

}  // namespace

CX_EXPORT_LOOPS(RandomUnit){kLoops<float>, kLoops<double>};

}  // namespace chainerx::native::CX_ISA
