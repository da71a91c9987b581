// Loops of routines that are no elementwise family: rows of softmax, random numbers, outer
// products.
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

// Eight Philox blocks side by side, in plain loops that the compiler vectorizes.
constexpr int kLanes = 8;
struct Lanes {
    alignas(64) uint32_t v[4][kLanes];
};

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

template <typename T>
inline void DropGroup(const Lanes& bits, uint32_t threshold, T scale, const T* x, T* y) {
    for (int k = 0; k < 4; ++k) {
        for (int l = 0; l < kLanes; ++l) {
            y[k * kLanes + l] = x[k * kLanes + l] * (bits.v[k][l] < threshold ? T(0) : scale);
        }
    }
}

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
