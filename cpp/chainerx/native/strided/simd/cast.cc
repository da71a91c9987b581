// SIMD dtype conversions.
#include "chainerx/core/float16.h"
#include "chainerx/native/strided/cast_loops.h"
#include "chainerx/native/strided/simd/batch.h"
#include "chainerx/native/unit.h"

namespace chainerx::native::CX_ISA {
namespace {

void Float16ToFloat32(const void* x_data, void* out_data, int64_t n) {
    const uint16_t* x = static_cast<const uint16_t*>(x_data);
    float* out = static_cast<float*>(out_data);
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i));
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(bits));
    }
    for (; i < n; ++i) out[i] = _cvtsh_ss(x[i]);
#else
    for (; i < n; ++i) out[i] = static_cast<float>(__builtin_bit_cast(Float16, x[i]));
#endif
}

void Float32ToFloat16(const void* x_data, void* out_data, int64_t n) {
    const float* x = static_cast<const float*>(x_data);
    uint16_t* out = static_cast<uint16_t*>(out_data);
    int64_t i = 0;
#if defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), bits);
    }
    for (; i < n; ++i) out[i] = _cvtss_sh(x[i], _MM_FROUND_TO_NEAREST_INT);
#else
    for (; i < n; ++i) out[i] = __builtin_bit_cast(uint16_t, Float16(x[i]));
#endif
}

// Plain integer arithmetic, which the compiler vectorizes.
void BFloat16ToFloat32(const void* x_data, void* out_data, int64_t n) {
    const uint16_t* x = static_cast<const uint16_t*>(x_data);
    uint32_t* __restrict out = static_cast<uint32_t*>(out_data);
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<uint32_t>(x[i]) << 16;
}

void Float32ToBFloat16(const void* x_data, void* out_data, int64_t n) {
    const uint32_t* x = static_cast<const uint32_t*>(x_data);
    uint16_t* __restrict out = static_cast<uint16_t*>(out_data);
    for (int64_t i = 0; i < n; ++i) {
        const uint32_t bits = x[i];
        const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        // A NaN is made quiet, since rounding could carry it into infinity.
        const uint32_t quiet = bits >> 16 | 0x40;
        out[i] = static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
    }
}

// The result of the processor's conversion on overflow, also where conversion is in software.
template <typename T>
int32_t Truncate(T x) {
    return x > T(sizeof(T) == 4 ? -2147483904.0 : -2147483649.0) && x < T(2147483648.0)
               ? static_cast<int32_t>(x)
               : INT32_MIN;
}

void Float32ToInt32(const void* x_data, void* out_data, int64_t n) {
    const float* x = static_cast<const float*>(x_data);
    int32_t* out = static_cast<int32_t*>(out_data);
    int64_t i = 0;
#if defined(__AVX2__)
    for (; i + 8 <= n; i += 8) {
        const __m256i y = _mm256_cvttps_epi32(_mm256_loadu_ps(x + i));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), y);
    }
#elif defined(__SSE2__)
    for (; i + 4 <= n; i += 4) {
        const __m128i y = _mm_cvttps_epi32(_mm_loadu_ps(x + i));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), y);
    }
#endif
    for (; i < n; ++i) out[i] = Truncate(x[i]);
}

void Float64ToInt32(const void* x_data, void* out_data, int64_t n) {
    const double* x = static_cast<const double*>(x_data);
    int32_t* out = static_cast<int32_t*>(out_data);
    int64_t i = 0;
#if defined(__AVX2__)
    for (; i + 4 <= n; i += 4) {
        const __m128i y = _mm256_cvttpd_epi32(_mm256_loadu_pd(x + i));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), y);
    }
#endif
    for (; i < n; ++i) out[i] = Truncate(x[i]);
}

}  // namespace

CX_EXPORT_LOOPS(CastLoops){Float16ToFloat32,  Float32ToFloat16, BFloat16ToFloat32,
                           Float32ToBFloat16, Float32ToInt32,   Float64ToInt32};

}  // namespace chainerx::native::CX_ISA
