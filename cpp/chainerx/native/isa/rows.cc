// Loops of routines that are no elementwise family: rows of softmax, lattices, random
// numbers, outer products.
#include "chainerx/native/isa/lattice.h"
#include "chainerx/native/isa/math.h"
#include "chainerx/native/isa/softmax_rows.h"
#include "chainerx/native/row_loops.h"

namespace chainerx::native {
namespace CX_ISA {
namespace {

template <typename T>
void Scale(const T* x, T factor, T* y, int64_t n, bool add) {
    if (!add) {
        ForRow(x, y, n, [=](const Batch<T>& b) { return b * factor; });
        return;
    }
    for (int64_t i = 0; i < n; ++i) y[i] += x[i] * factor;
}

// Eight Philox blocks side by side.
constexpr int kLanes = 8;
struct Lanes {
    alignas(64) uint32_t v[4][kLanes];
};

#if defined(CX_ISA_AVX2) || defined(CX_ISA_AVX512)
// The lower and the upper halves of the products with `factor`.
struct Products {
    __m256i low;
    __m256i high;
};
inline Products Multiply(__m256i x, __m256i factor) {
    const __m256i even = _mm256_mul_epu32(x, factor);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), factor);
    return {_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa),
            _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa)};
}

inline void Generate(uint64_t seed, uint64_t call, uint64_t first, Lanes* x) {
    const auto all = [](uint64_t v) { return _mm256_set1_epi32(static_cast<int>(v)); };
    alignas(32) uint32_t low[kLanes];
    alignas(32) uint32_t high[kLanes];
    for (int l = 0; l < kLanes; ++l) {
        low[l] = static_cast<uint32_t>(first + static_cast<uint64_t>(l));
        high[l] = static_cast<uint32_t>((first + static_cast<uint64_t>(l)) >> 32);
    }
    __m256i v0 = _mm256_load_si256(reinterpret_cast<const __m256i*>(low));
    __m256i v1 = _mm256_load_si256(reinterpret_cast<const __m256i*>(high));
    __m256i v2 = all(call);
    __m256i v3 = all(call >> 32);
    __m256i key0 = all(seed);
    __m256i key1 = all(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const Products p0 = Multiply(v0, all(0xD2511F53u));
        const Products p1 = Multiply(v2, all(0xCD9E8D57u));
        v0 = _mm256_xor_si256(_mm256_xor_si256(p1.high, v1), key0);
        v1 = p1.low;
        v2 = _mm256_xor_si256(_mm256_xor_si256(p0.high, v3), key1);
        v3 = p0.low;
        key0 = _mm256_add_epi32(key0, all(0x9E3779B9u));
        key1 = _mm256_add_epi32(key1, all(0xBB67AE85u));
    }
    const __m256i words[4] = {v0, v1, v2, v3};
    for (int k = 0; k < 4; ++k) _mm256_store_si256(reinterpret_cast<__m256i*>(x->v[k]), words[k]);
}
#else
// In plain loops that the compiler vectorizes.
inline void Generate(uint64_t seed, uint64_t call, uint64_t first, Lanes* x) {
    for (int l = 0; l < kLanes; ++l) {
        x->v[0][l] = static_cast<uint32_t>(first + static_cast<uint64_t>(l));
        x->v[1][l] = static_cast<uint32_t>((first + static_cast<uint64_t>(l)) >> 32);
        x->v[2][l] = static_cast<uint32_t>(call);
        x->v[3][l] = static_cast<uint32_t>(call >> 32);
    }
    uint32_t key0 = static_cast<uint32_t>(seed);
    uint32_t key1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        for (int l = 0; l < kLanes; ++l) {
            const uint64_t p0 = uint64_t{0xD2511F53u} * x->v[0][l];
            const uint64_t p1 = uint64_t{0xCD9E8D57u} * x->v[2][l];
            const uint32_t v1 = x->v[1][l];
            const uint32_t v3 = x->v[3][l];
            x->v[0][l] = static_cast<uint32_t>(p1 >> 32) ^ v1 ^ key0;
            x->v[1][l] = static_cast<uint32_t>(p1);
            x->v[2][l] = static_cast<uint32_t>(p0 >> 32) ^ v3 ^ key1;
            x->v[3][l] = static_cast<uint32_t>(p0);
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}
#endif

// The 64-bit numbers of lane l: words 0 and 1, then 2 and 3.
inline uint64_t Word(const Lanes& x, int k, int l) {
    return static_cast<uint64_t>(x.v[2 * k + 1][l]) << 32 | x.v[2 * k][l];
}

// f(lanes, group): `group` takes the numbers of all eight lanes, block by block.
template <typename T, typename F>
inline void ForGroups(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out, const F& f) {
    constexpr int64_t kPer = 16 / sizeof(T);
    Lanes x;
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
        Generate(seed, call, first + static_cast<uint64_t>(i), &x);
        f(x, out + i * kPer);
    }
    if (i < n) {
        T group[kLanes * kPer];
        Generate(seed, call, first + static_cast<uint64_t>(i), &x);
        f(x, group);
        for (int64_t j = 0; j < (n - i) * kPer; ++j) out[i * kPer + j] = group[j];
    }
}

inline void UniformGroup(const Lanes& x, float* out) {
    for (int l = 0; l < kLanes; ++l) {
        for (int k = 0; k < 4; ++k) {
            out[4 * l + k] = static_cast<float>(static_cast<int32_t>(x.v[k][l] >> 8)) * 0x1p-24f;
        }
    }
}
inline void UniformGroup(const Lanes& x, double* out) {
    for (int l = 0; l < kLanes; ++l) {
        for (int k = 0; k < 2; ++k) {
            out[2 * l + k] =
                static_cast<double>(static_cast<int64_t>(Word(x, k, l) >> 11)) * 0x1p-53;
        }
    }
}

// Box and Muller's pairs of `u` in (0, 1] and `angle` in [0, 2 pi), in place.
template <typename T>
inline void ToNormals(T* u, T* angle) {
    constexpr int kSize = static_cast<int>(Batch<T>::size);
    static_assert(2 * kLanes % kSize == 0);
    for (int i = 0; i < 2 * kLanes * 4 / static_cast<int>(sizeof(T)); i += kSize) {
        const Batch<T> radius = xsimd::sqrt(math::Log(Batch<T>::load_aligned(u + i)) * T(-2));
        const Batch<T> a = Batch<T>::load_aligned(angle + i);
        (radius * math::Cos(a)).store_aligned(u + i);
        (radius * math::Sin(a)).store_aligned(angle + i);
    }
}

inline void NormalGroup(const Lanes& x, float* out) {
    alignas(64) float u[2 * kLanes];
    alignas(64) float angle[2 * kLanes];
    for (int k = 0; k < 2; ++k) {
        for (int l = 0; l < kLanes; ++l) {
            u[k * kLanes + l] = (static_cast<float>(x.v[2 * k][l]) + 0.5f) * 0x1p-32f;
            angle[k * kLanes + l] =
                static_cast<float>(static_cast<int32_t>(x.v[2 * k + 1][l] >> 8)) * 0x1p-24f *
                6.283185307f;
        }
    }
    ToNormals(u, angle);
    for (int l = 0; l < kLanes; ++l) {
        for (int k = 0; k < 2; ++k) {
            out[4 * l + 2 * k] = u[k * kLanes + l];
            out[4 * l + 2 * k + 1] = angle[k * kLanes + l];
        }
    }
}

inline void NormalGroup(const Lanes& x, double* out) {
    alignas(64) double u[kLanes];
    alignas(64) double angle[kLanes];
    for (int l = 0; l < kLanes; ++l) {
        u[l] = static_cast<double>(static_cast<int64_t>(Word(x, 0, l) >> 11) + 1) * 0x1p-53;
        angle[l] = static_cast<double>(static_cast<int64_t>(Word(x, 1, l) >> 11)) * 0x1p-53 *
                   6.283185307179586;
    }
    ToNormals(u, angle);
    for (int l = 0; l < kLanes; ++l) {
        out[2 * l] = u[l];
        out[2 * l + 1] = angle[l];
    }
}

template <typename T>
void Uniform(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out) {
    ForGroups(seed, call, first, n, out, [](const Lanes& x, T* to) { UniformGroup(x, to); });
}

template <typename T>
void Normal(uint64_t seed, uint64_t call, uint64_t first, int64_t n, T* out) {
    ForGroups(seed, call, first, n, out, [](const Lanes& x, T* to) { NormalGroup(x, to); });
}

#if defined(CX_ISA_AVX2) || defined(CX_ISA_AVX512)
// Eight elements; `keep` has all bits of a lane set where it stays.
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
        // b >= least; there is no comparison without sign.
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
constexpr RowLoopsOf<T> kLoops = {{SoftmaxStats<T>, Softmax<T>, LogSoftmax<T>, ScaledSoftmax<T>},
                                  {LatticeWeights<T>},
                                  {Uniform<T>, Normal<T>},
                                  Dropout<T>,
                                  Scale<T>};

}  // namespace
}  // namespace CX_ISA
}  // namespace chainerx::native

extern "C" {
__attribute__((visibility("hidden"))) extern const chainerx::native::RowLoops CX_UNIT_ENTRY;
const chainerx::native::RowLoops CX_UNIT_ENTRY = {chainerx::native::CX_ISA::kLoops<float>,
                                                  chainerx::native::CX_ISA::kLoops<double>};
}
