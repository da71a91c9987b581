// Philox4x32-10, a counter-based generator: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
//
// Element i of the c-th draw with a seed is a function of (seed, c, i) alone, on any device and
// any number of threads. This file compiles for the host and as the source of a device kernel.
#pragma once

#ifdef __CUDACC_RTC__
#define CX_RANDOM_FN __device__ inline
#else
#include <cmath>
#include <cstdint>
#define CX_RANDOM_FN inline
#endif

namespace chainerx {
namespace philox {

struct Block {
    uint32_t v[4];
};

// Encrypts the 128 bits of `counter` with the 64-bit `key`.
CX_RANDOM_FN Block Generate(Block counter, uint64_t key) {
    uint32_t key0 = static_cast<uint32_t>(key);
    uint32_t key1 = static_cast<uint32_t>(key >> 32);
    Block x = counter;
    for (int round = 0; round < 10; ++round) {
        const uint64_t p0 = uint64_t{0xD2511F53u} * x.v[0];
        const uint64_t p1 = uint64_t{0xCD9E8D57u} * x.v[2];
        x = Block{{static_cast<uint32_t>(p1 >> 32) ^ x.v[1] ^ key0, static_cast<uint32_t>(p1),
                   static_cast<uint32_t>(p0 >> 32) ^ x.v[3] ^ key1, static_cast<uint32_t>(p0)}};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return x;
}

// The position of one call in the sequence of a generator.
struct Stream {
    uint64_t seed;
    uint64_t call;  // number of earlier calls

    CX_RANDOM_FN Block Get(uint64_t block) const {
        return Generate(Block{{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                               static_cast<uint32_t>(call), static_cast<uint32_t>(call >> 32)}},
                        seed);
    }
};

CX_RANDOM_FN uint64_t Join(uint32_t low, uint32_t high) {
    return static_cast<uint64_t>(high) << 32 | low;
}

// Uniform in [0, 1): multiples of 2^-24 or 2^-53, all equally likely.
CX_RANDOM_FN float ToUniform(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
CX_RANDOM_FN double ToUniform(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// Uniform in 0 <= x < range, as the upper half of a product (D. Lemire, 2019). The bias is below
// range / 2^64.
CX_RANDOM_FN uint64_t ToBounded(uint64_t bits, uint64_t range) {
#ifdef __CUDACC_RTC__
    return __umul64hi(bits, range);
#else
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * range >> 64);
#endif
}

// For ranges that need 32 random bits: the upper half of the product is uniform if numbers are
// rejected whose lower half is below RejectedBelow(range), which happens at most once in 4096 times
// (Lemire, 2019).
CX_RANDOM_FN uint32_t RejectedBelow(uint32_t range) { return (0u - range) % range; }
CX_RANDOM_FN bool IsShortRange(uint64_t range) {
    return range != 0 && range >> 32 == 0 && RejectedBelow(static_cast<uint32_t>(range)) >> 20 == 0;
}

// Two independent standard normals by the Box-Muller transform (1958). The logarithm's argument is
// in (0, 1].
CX_RANDOM_FN void ToNormals(uint32_t bits0, uint32_t bits1, float* z0, float* z1) {
    const float u = (static_cast<float>(bits0) + 0.5f) * 0x1p-32f;
    const float radius = sqrtf(-2.0f * logf(u));
    // Quarter turns have no rounding error.
    const float quarters = 4 * ToUniform(bits1);
    const float n = nearbyintf(quarters);
    const float angle = 1.570796327f * (quarters - n);
    const int quadrant = static_cast<int>(n);
    const float c = quadrant & 1 ? sinf(angle) : cosf(angle);
    const float s = quadrant & 1 ? cosf(angle) : sinf(angle);
    *z0 = (quadrant + 1) & 2 ? -radius * c : radius * c;
    *z1 = quadrant & 2 ? -radius * s : radius * s;
}
CX_RANDOM_FN void ToNormals(uint64_t bits0, uint64_t bits1, double* z0, double* z1) {
    const double u = (static_cast<double>(bits0 >> 11) + 1.0) * 0x1p-53;
    const double radius = sqrt(-2.0 * log(u));
    const double angle = 6.283185307179586 * ToUniform(bits1);
    *z0 = radius * cos(angle);
    *z1 = radius * sin(angle);
}

// The elements of one block: four floats, two doubles or two 64-bit integers.
CX_RANDOM_FN void UniformBlock(const Block& b, float* out) {
    for (int i = 0; i < 4; ++i) out[i] = ToUniform(b.v[i]);
}
CX_RANDOM_FN void UniformBlock(const Block& b, double* out) {
    out[0] = ToUniform(Join(b.v[0], b.v[1]));
    out[1] = ToUniform(Join(b.v[2], b.v[3]));
}
CX_RANDOM_FN void NormalBlock(const Block& b, float* out) {
    ToNormals(b.v[0], b.v[1], &out[0], &out[1]);
    ToNormals(b.v[2], b.v[3], &out[2], &out[3]);
}
CX_RANDOM_FN void NormalBlock(const Block& b, double* out) {
    ToNormals(Join(b.v[0], b.v[1]), Join(b.v[2], b.v[3]), &out[0], &out[1]);
}

}  // namespace philox
}  // namespace chainerx

#undef CX_RANDOM_FN
