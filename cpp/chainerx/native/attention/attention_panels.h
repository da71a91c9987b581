// Blocks of attention, packed for the micro-kernel of gemm_loops.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "chainerx/native/attention/attention_operands.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/strided/transpose_loops.h"

namespace chainerx::native {

// A bump allocator over one buffer; all parts are aligned to vectors.
template <typename C>
class Carver {
 public:
    explicit Carver(C* memory) : memory_{memory} {}
    C* Take(int64_t n) {
        C* const x = memory_ == nullptr ? nullptr : memory_ + size_;
        constexpr int64_t kAlign = 64 / sizeof(C);
        size_ += CeilDiv(n, kAlign) * kAlign;
        return x;
    }
    int64_t size() const { return size_; }

 private:
    C* memory_;
    int64_t size_{0};
};

// Partitions queries (or keys) into panels of as many lanes as a tile has columns.
struct Lanes {
    Range all;
    int64_t width;

    int64_t count() const { return CeilDiv(all.size(), width); }
    Range panel(int64_t p) const {
        const int64_t begin = all.begin + p * width;
        return {begin, std::min(all.end, begin + width)};
    }
};

// A-operand: partitions n rows into panels.
template <typename C>
struct PackedA {
    C* data;
    int64_t depth;  // of a panel in memory

    static int64_t CountPanels(int64_t n) { return CeilDiv(n, GemmLoopsOf<C>().rows); }
    static PackedA Take(Carver<C>& carver, int64_t n, int64_t depth) {
        return {carver.Take(CountPanels(n) * GemmLoopsOf<C>().rows * depth), depth};
    }
    C* panel(int64_t p) const { return data + p * GemmLoopsOf<C>().rows * depth; }

    // Full panels, which are packed fastest, unless the last one would be too short to keep the
    // tile busy; then all have nearly the same height.
    struct Panels {
        int64_t n;
        int64_t count;
        int64_t rows;    // rows of each
        int64_t longer;  // the first `longer` panels have one row more

        explicit Panels(int64_t n) : n{n}, count{CountPanels(n)}, rows{GemmLoopsOf<C>().rows} {
            const int64_t rest = n % rows;
            longer = 0;
            if (rest == 0 || rest >= rows / 2) return;
            rows = n / count;
            longer = n % count;
        }
        Range at(int64_t p) const { return {Begin(p), std::min(n, Begin(p + 1))}; }

     private:
        int64_t Begin(int64_t p) const { return p * rows + std::min(p, longer); }
    };

    // Packs elements (i, q) from x.at(i, q).
    void Pack(const StridedMatrix<const C>& x, int64_t n, int64_t k) const {
        const Panels panels{n};
        for (int64_t p = 0; p < panels.count; ++p) {
            const Range i = panels.at(p);
            GemmLoopsOf<C>().pack_a(x.at(i.begin, 0), x.row, x.column, i.size(), k, panel(p));
        }
    }
    // The same for columns [at, at + k) only.
    void PackAt(const StridedMatrix<const C>& x, int64_t n, int64_t at, int64_t k) const {
        const int64_t rows = GemmLoopsOf<C>().rows;
        PackedA{data + at * rows, depth}.Pack(x, n, k);
    }
    // Multiplies rows [0, wanted) of n with a B panel: c (+)= a b, whose rows are ldc apart. Depth
    // counts from row `at`.
    void Multiply(int64_t n, int64_t wanted, int64_t at, int64_t k, const C* b, C* c, int64_t ldc,
                  int64_t columns, bool accumulate) const {
        const auto& loops = GemmLoopsOf<C>();
        const TileRun<C> run{at, k, b, loops.columns};
        const Panels panels{n};
        for (int64_t p = 0; p < panels.count; ++p) {
            const Range i = panels.at(p);
            if (i.begin >= wanted) break;
            loops.tile(panel(p), &run, 1, c + i.begin * ldc, ldc, i.size(), columns, accumulate,
                       nullptr);
        }
    }
};

// B-operand: columns of a tile.
template <typename C>
struct PackedB {
    C* data;
    int64_t depth;

    static int64_t CountPanels(int64_t n) { return CeilDiv(n, GemmLoopsOf<C>().columns); }
    static PackedB Take(Carver<C>& carver, int64_t n, int64_t depth) {
        return {carver.Take(CountPanels(n) * GemmLoopsOf<C>().columns * depth), depth};
    }
    C* panel(int64_t p) const { return data + p * GemmLoopsOf<C>().columns * depth; }

    // Packs elements (q, j) from x.at(q, j).
    void Pack(const StridedMatrix<const C>& x, int64_t n, int64_t k) const {
        const int64_t columns = GemmLoopsOf<C>().columns;
        for (int64_t j = 0; j < n; j += columns) {
            GemmLoopsOf<C>().pack_b(x.at(0, j), x.row, x.column, std::min(columns, n - j), k,
                                    data + j * depth);
        }
    }
};

// Transposes x.
template <typename C>
StridedMatrix<const C> Transposed(const StridedMatrix<const C>& x) {
    return {x.data, x.column, x.row};
}

// Writes a panel (a row per channel, a lane per query) to rows [begin, begin + n) of y, transposed,
// with `width` adjacent elements. `memory` has room for the square of a tile's columns.
template <typename T, typename C>
void WriteTransposed(const C* panel, int64_t width, int64_t n, C* memory, const StridedMatrix<T>& y,
                     int64_t begin) {
    const auto& loops = GemmLoopsOf<C>();
    const int64_t columns = loops.columns;
    if constexpr (std::is_same_v<T, C>) {
        const TransposeLoops& transposes = transpose_loops();
        const int64_t side = sizeof(C) == 4 ? transposes.side4 : transposes.side8;
        if (n % side == 0 && width % side == 0) {
            const auto transpose = sizeof(C) == 4 ? transposes.transpose4 : transposes.transpose8;
            constexpr int64_t kSize = sizeof(C);
            transpose(reinterpret_cast<char*>(y.at(begin, 0)), y.row * kSize,
                      reinterpret_cast<const char*>(panel), columns * kSize, n, width, n);
            return;
        }
    }
    for (int64_t j = 0; j < width; j += columns) {
        const int64_t count = std::min(columns, width - j);
        loops.pack_b(panel + j * columns, 1, columns, count, n, memory);
        for (int64_t i = 0; i < n; ++i) {
            const C* from = memory + i * columns;
            T* to = y.at(begin + i, j);
            for (int64_t l = 0; l < count; ++l) to[l] = Cast<T>(from[l]);
        }
    }
}

// Number of blocks of that many queries in one task. By shape alone.
inline int64_t CountTogether(const AttentionSizes& sizes, int64_t most_queries) {
    constexpr double kMin = 0x1p18;
    const double work = static_cast<double>(std::min(sizes.queries, most_queries)) *
                        static_cast<double>(sizes.keys) *
                        static_cast<double>(sizes.width + sizes.value_width + 16);
    return std::max<int64_t>(1, static_cast<int64_t>(kMin / std::max(work, 1.0)));
}

}  // namespace chainerx::native
