// Philox4x32-10, a counter-based generator: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
//
// Element i of the c-th draw with a seed is a function of (seed, c, i) alone, on any device and
// any number of threads. Device sources include this file, too.
#pragma once

#include <cmath>
#include <cstdint>

namespace chainerx {
namespace philox {

struct Block {
    uint32_t v[4];
};

// Encrypts the 128 bits of `counter` with the 64-bit `key`.
inline Block Generate(Block counter, uint64_t key) {
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

    inline Block Get(uint64_t block) const {
        return Generate(Block{{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                               static_cast<uint32_t>(call), static_cast<uint32_t>(call >> 32)}},
                        seed);
    }
};

inline uint64_t Join(uint32_t low, uint32_t high) {
    return static_cast<uint64_t>(high) << 32 | low;
}

// Uniform in [0, 1): multiples of 2^-24 or 2^-53, all equally likely.
inline float ToUniform(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
inline double ToUniform(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// Uniform in 0 <= x < range, as the upper half of a product (D. Lemire, 2019). The bias is below
// range / 2^64.
inline uint64_t ToBounded(uint64_t bits, uint64_t range) {
#ifdef __CUDACC_RTC__
    return __umul64hi(bits, range);
#else
    return static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * range >> 64);
#endif
}

// Two independent standard normals by the Box-Muller transform (1958), as those of
// native/random/simd/normal_pairs.h but for roundings. The logarithm's argument is in (0, 1].
inline void ToNormals(uint64_t bits0, uint64_t bits1, double* z0, double* z1) {
    const double u = (static_cast<double>(bits0 >> 11) + 1.0) * 0x1p-53;
    const double radius = sqrt(-2.0 * log(u));
    const double angle = 6.283185307179586 * ToUniform(bits1);
    *z0 = radius * cos(angle);
    *z1 = radius * sin(angle);
}

}  // namespace philox
}  // namespace chainerx
