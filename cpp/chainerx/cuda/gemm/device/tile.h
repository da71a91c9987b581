// Products of two tiles in shared memory, which the threads of a block compute together.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "chainerx/cuda/device/numbers.h"
#include "chainerx/cuda/gemm/params.h"

namespace chainerx::cuda {

inline float MultiplyAdd(float a, float b, float c) { return ::fmaf(a, b, c); }
inline double MultiplyAdd(double a, double b, double c) { return ::fma(a, b, c); }
template <typename T>
inline native::ComplexNumber<T> MultiplyAdd(native::ComplexNumber<T> a, native::ComplexNumber<T> b,
                                            native::ComplexNumber<T> c) {
    return {MultiplyAdd(-a.imag(), b.imag(), MultiplyAdd(a.real(), b.real(), c.real())),
            MultiplyAdd(a.imag(), b.real(), MultiplyAdd(a.real(), b.imag(), c.imag()))};
}
inline bool MultiplyAdd(bool a, bool b, bool c) { return (a && b) || c; }
// Integers wrap.
template <typename T>
inline T MultiplyAdd(T a, T b, T c) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b) + static_cast<U>(c));
}

// Numbers that are loaded together.
template <typename C>
struct alignas(sizeof(C) < 4 ? 4 * sizeof(C) : 16) Quad {
    C of[4];
};

// A tile has kTile rows by kGemmDepth steps of k; here rows are adjacent. A thread computes kEach x
// kEach elements, in quads.
template <typename T, int kTile>
class TileProduct {
 public:
    using C = Number<T>;
    using Item = C;
    using Memory = Quad<C>;
    static constexpr int kMemory = kGemmDepth * (kTile + 4) / 4;  // of one tile

    static constexpr bool kStepsAdjacent = false;
    static int PlaceOf(int row, int k) { return k * kPitch + row; }
    static Item Load(const T& x) { return AsNumbers::Load(x); }

    // Adds the products of the first `count` steps.
    void Add(const Memory* a, const Memory* b, int count) {
        const int r = static_cast<int>(threadIdx.x) / kThreads;
        const int c = static_cast<int>(threadIdx.x) % kThreads;
        for (int k = 0; k < count; ++k) {
            C x[kEach];
            C y[kEach];
#pragma unroll
            for (int q = 0; q < kQuads; ++q) {
                const Quad<C> rows = a[k * kPitch / 4 + q * kThreads + r];
                const Quad<C> columns = b[k * kPitch / 4 + q * kThreads + c];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    x[q * 4 + i] = rows.of[i];
                    y[q * 4 + i] = columns.of[i];
                }
            }
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
#pragma unroll
                for (int j = 0; j < kEach; ++j) {
                    sums_[i][j] = MultiplyAdd(x[i], y[j], sums_[i][j]);
                }
            }
        }
    }

    // Calls f(row, column, sum) for each element of this thread.
    template <typename F>
    void ForEach(const F& f) const {
        const int r = static_cast<int>(threadIdx.x) / kThreads * 4;
        const int c = static_cast<int>(threadIdx.x) % kThreads * 4;
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
#pragma unroll
            for (int j = 0; j < kEach; ++j) {
                f(i / 4 * 4 * kThreads + r + i % 4, j / 4 * 4 * kThreads + c + j % 4, sums_[i][j]);
            }
        }
    }

 private:
    static constexpr int kPitch = kTile + 4;
    static constexpr int kThreads = 16;  // along rows, and along columns
    static constexpr int kEach = kTile / kThreads;
    static constexpr int kQuads = kEach / 4;

    C sums_[kEach][kEach] = {};
};

// The same of 16-bit floats, by tensor cores, which sum in float. Eight warps, two by four, compute
// pieces of 16 x 8 elements.
template <typename T, int kTile>
class HalfTileProduct {
 public:
    using C = float;
    using Item = T;
    using Memory = Quad<uint32_t>;
    static constexpr int kMemory = kTile * (kGemmDepth + 8) / 8;

    static constexpr bool kStepsAdjacent = true;
    static int PlaceOf(int row, int k) { return row * kPitch + k; }
    static Item Load(const T& x) { return x; }

    // Adds the products of all steps; those after `count` are of zeros.
    void Add(const Memory* a, const Memory* b, int /*count*/) {
#if defined(__CUDACC_RTC__)
        const auto* rows = reinterpret_cast<const uint32_t*>(a);
        const auto* columns = reinterpret_cast<const uint32_t*>(b);
        const int word = Lane() % 4;
#pragma unroll
        for (int j = 0; j < kAcross; ++j) {
            const int c = (Column() + j * 8 + Lane() / 4) * kPitch / 2 + word;
#pragma unroll
            for (int i = 0; i < kDown; ++i) {
                const int r = (Row() + i * 16 + Lane() / 4) * kPitch / 2 + word;
                const uint32_t x[4] = {rows[r], rows[r + 8 * kPitch / 2], rows[r + 4],
                                       rows[r + 8 * kPitch / 2 + 4]};
                Multiply(sums_[i][j], x, columns[c], columns[c + 4]);
            }
        }
#else
        for (int k = 0; k < kGemmDepth; ++k) {
            Each([&](int row, int column, float& sum) {
                const T* x = reinterpret_cast<const T*>(a) + PlaceOf(row, k);
                const T* y = reinterpret_cast<const T*>(b) + PlaceOf(column, k);
                sum = ::fmaf(static_cast<float>(*x), static_cast<float>(*y), sum);
            });
        }
#endif
    }

    template <typename F>
    void ForEach(const F& f) const {
        const_cast<HalfTileProduct*>(this)->Each(f);
    }

 private:
    static constexpr int kPitch = kGemmDepth + 8;  // 8 rows lie in different banks
    static constexpr int kDown = kTile / 2 / 16;
    static constexpr int kAcross = kTile / 4 / 8;

    static int Lane() { return static_cast<int>(threadIdx.x) % 32; }
    static int Row() { return static_cast<int>(threadIdx.x) / 128 * (kTile / 2); }
    static int Column() { return static_cast<int>(threadIdx.x) / 32 % 4 * (kTile / 4); }

    template <typename F>
    void Each(const F& f) {
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
            for (int j = 0; j < kAcross; ++j) {
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    f(Row() + i * 16 + e / 2 * 8 + Lane() / 4,
                      Column() + j * 8 + Lane() % 4 * 2 + e % 2, sums_[i][j][e]);
                }
            }
        }
    }
#if defined(__CUDACC_RTC__)
    static void Multiply(float (&sums)[4], const uint32_t (&x)[4], uint32_t y0, uint32_t y1) {
#define CX_MULTIPLY(type)                                            \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type       \
        ".f32 {%0, %1, %2, %3}, "                                    \
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"              \
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]) \
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y0), "r"(y1))
        if constexpr (std::is_same_v<T, Float16>) {
            CX_MULTIPLY("f16");
        } else {
            CX_MULTIPLY("bf16");
        }
#undef CX_MULTIPLY
    }
#endif

    float sums_[kDown][kAcross][4] = {};
};
template <int kTile>
class TileProduct<Float16, kTile> : public HalfTileProduct<Float16, kTile> {};
template <int kTile>
class TileProduct<BFloat16, kTile> : public HalfTileProduct<BFloat16, kTile> {};

// A thread's elements of a tile, on their way to shared memory. Neighbouring threads load
// neighbouring rows, or neighbouring steps; by quads, where memory and sizes are multiples of four.
template <typename T, int kTile>
class TileLoads {
 public:
    using Product = TileProduct<T, kTile>;
    using Item = typename Product::Item;

    TileLoads(bool rows_first, bool quads) : rows_first_{rows_first}, quads_{quads} {}

    // address(row, k) is that of an element, or null for 0.
    template <typename Address>
    void Fetch(const Address& address) {
        if (quads_) {
#pragma unroll
            for (int i = 0; i < kEach; i += 4) {
                Quad<T> x{};
                const char* from = address(Row<4>(i / 4), Step<4>(i / 4));
                if (from != nullptr) x = *reinterpret_cast<const Quad<T>*>(from);
#pragma unroll
                for (int j = 0; j < 4; ++j) items_[i + j] = Product::Load(x.of[j]);
            }
        } else {
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                const char* from = address(Row<1>(i), Step<1>(i));
                items_[i] =
                    Product::Load(from != nullptr ? *reinterpret_cast<const T*>(from) : T{});
            }
        }
    }
    void Put(typename Product::Memory* tile) const {
        auto* to = reinterpret_cast<Item*>(tile);
        if (!quads_) {
#pragma unroll
            for (int i = 0; i < kEach; ++i) to[Product::PlaceOf(Row<1>(i), Step<1>(i))] = items_[i];
            return;
        }
#pragma unroll
        for (int i = 0; i < kEach; i += 4) {
            const int row = Row<4>(i / 4);
            const int k = Step<4>(i / 4);
            if (rows_first_ != Product::kStepsAdjacent) {
                *reinterpret_cast<Quad<Item>*>(to + Product::PlaceOf(row, k)) = {
                    items_[i], items_[i + 1], items_[i + 2], items_[i + 3]};
            } else {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    to[Product::PlaceOf(rows_first_ ? row + j : row, rows_first_ ? k : k + j)] =
                        items_[i + j];
                }
            }
        }
    }

 private:
    static constexpr int kEach = kTile * kGemmDepth / kBlockThreads;
    // The first place of run i of kWidth elements.
    template <int kWidth>
    int Row(int i) const {
        const int e = static_cast<int>(threadIdx.x) + i * kBlockThreads;
        return rows_first_ ? e % (kTile / kWidth) * kWidth : e / (kGemmDepth / kWidth);
    }
    template <int kWidth>
    int Step(int i) const {
        const int e = static_cast<int>(threadIdx.x) + i * kBlockThreads;
        return rows_first_ ? e / (kTile / kWidth) : e % (kGemmDepth / kWidth) * kWidth;
    }

    bool rows_first_;
    bool quads_;
    Item items_[kEach];
};

}  // namespace chainerx::cuda
