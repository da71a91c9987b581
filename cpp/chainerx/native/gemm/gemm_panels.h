// Blocks and packed panels of the operands of large float32 products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "chainerx/core/thread_pool.h"
#include "chainerx/native/gemm/cache_conflict.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native::gemm {

// L2 holds a block of A of this many rows, and L3 a block of B of this many columns (L2 as well if
// there is one block of rows).
inline constexpr int64_t kBlockRows = 504;
inline constexpr int64_t kBlockColumns = 4096;
inline constexpr int64_t kSmallBlockColumns = 512;

// An operand: element (i, j) is at data[i * row + j * column].
struct Operand2d {
    const float* data;
    int64_t row;
    int64_t column;

    const float* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
};

// Returns whether B panels are read in place: with few rows of A, packing costs more than it saves.
// Not where rows of B conflict in a cache set, nor where each line of a panel is on another page:
// these arrive one by one.
inline bool IsPackedAlready(const Operand2d& b, int64_t m) {
    constexpr int64_t kMaxRows = 128;
    constexpr int64_t kLine = 64 / sizeof(float);
    constexpr int64_t kPage = 4096 / sizeof(float);
    return b.column == 1 && m <= kMaxRows && !HasCacheConflict<float>(b.row) &&
           (gemm_loops().f32.columns > kLine || b.row < kPage);
}

// c = a b, or c += a b: a whole product, or the part that one task computes. A bias, unless null,
// is added to each row; ReLU follows if `rectified`, which needs a bias. `sums`, unless null, gets
// the row sums of A, depth by depth, `ld_sums` apart.
struct Product {
    Operand2d a;
    Operand2d b;
    int64_t m;
    int64_t n;
    int64_t k;
    float* c;
    int64_t ldc;
    bool accumulate;
    const float* bias;
    bool rectified;
    float* sums;
    int64_t ld_sums;

    int64_t n_depths() const { return CeilDiv(k, kPanelDepth); }
    int64_t most_depth() const { return CeilDiv(k, n_depths()); }
    int64_t n_row_blocks() const { return CeilDiv(m, kBlockRows); }
    int64_t most_panels() const {  // of a block of rows
        return CeilDiv(CeilDiv(m, n_row_blocks()), gemm_loops().f32.rows);
    }
    Product Columns(int64_t begin, int64_t size) const {
        Product part = *this;
        part.b.data = b.at(0, begin);
        part.n = size;
        part.c = c + begin;
        if (bias != nullptr) part.bias = bias + begin;
        if (begin != 0) part.sums = nullptr;  // the first part reads all of A
        return part;
    }
    Product Rows(int64_t begin, int64_t size) const {
        Product part = *this;
        part.a.data = a.at(begin, 0);
        part.m = size;
        part.c = c + begin * ldc;
        if (sums != nullptr) part.sums = sums + begin;
        return part;
    }
};

// The panels of a block of rows, of nearly equal height.
struct RowBlock {
    Range rows;
    int64_t n_panels;

    RowBlock(const Product& x, int64_t i)
        : rows{x.m, x.n_row_blocks(), i}, n_panels{CeilDiv(rows.size(), gemm_loops().f32.rows)} {}
    Range Panel(int64_t p) const { return {rows.size(), n_panels, p}; }
};

inline void PackA(const Product& x, const RowBlock& block, int64_t p, const Range& q, float* to) {
    const Range i = block.Panel(p);
    gemm_loops().f32.pack_a(x.a.at(block.rows.begin + i.begin, q.begin), x.a.row, x.a.column,
                            i.size(), q.size(), to);
}

// Sums the rows of panel p of depth i, which has just been packed.
inline void SumPanel(const Product& x, const RowBlock& block, int64_t p, int64_t i,
                     const float* panel) {
    const Range rows = block.Panel(p);
    gemm_loops().sum_rows(panel, rows.size(), Range{x.k, x.n_depths(), i}.size(),
                          x.sums + i * x.ld_sums + block.rows.begin + rows.begin);
}

// Rows of an AVX-512 panel.
inline constexpr int64_t kLongPanel = 14;
inline constexpr int64_t kPackedTogether = 12;

// Packs at most kPackedTogether adjacent panels of rows, not including the last one: a short panel
// reads one row of the next panel, which tiles ignore.
inline void PackTogether(const Product& x, const RowBlock& block, const Range& panels,
                         const Range& q, float* to) {
    int64_t begins[kPackedTogether];
    for (int64_t p = 0; p < panels.size(); ++p) begins[p] = block.Panel(panels.begin + p).begin;
    const int64_t panel_size = kLongPanel * q.size();
    const float* from = x.a.at(block.rows.begin, q.begin);
    for (int64_t i = 0; i < q.size(); ++i, from += x.a.column) {
        float* panel = to + panels.begin * panel_size + i * kLongPanel;
        for (int64_t p = 0; p < panels.size(); ++p, panel += panel_size) {
            std::memcpy(panel, from + begins[p], kLongPanel * sizeof(float));
        }
    }
}

// Packs all panels of a block, one after the other. Of a transposed matrix, several panels are
// packed together: a panel takes less than a cache line of each column, and columns are too far
// apart for the hardware prefetcher. The short panels of AVX2 don't gain by it.
inline void PackBlockOfA(const Product& x, const RowBlock& block, const Range& q, float* to) {
    const int64_t rows = gemm_loops().f32.rows;
    int64_t p = 0;
    if (rows == kLongPanel && x.a.row == 1 && x.a.column != 1) {
        while (p < block.n_panels - 1) {
            const Range panels{p, std::min(block.n_panels - 1, p + kPackedTogether)};
            PackTogether(x, block, panels, q, to);
            p = panels.end;
        }
    }
    for (; p < block.n_panels; ++p) PackA(x, block, p, q, to + p * rows * q.size());
}

inline void PackB(const Product& x, int64_t j, int64_t end, const Range& q, float* to) {
    gemm_loops().f32.pack_b(x.b.at(q.begin, j), x.b.row, x.b.column, std::min(end, x.n) - j,
                            q.size(), to);
}

// All panels of an operand for some of the depths, shared among threads.
class SharedPanels {
 public:
    SharedPanels(const Product& x, int64_t n_panels, int64_t unit)
        : k_{x.k},
          n_depths_{x.n_depths()},
          n_panels_{n_panels},
          unit_{unit},
          most_depths_{
              std::clamp<int64_t>(kMax / (n_panels * unit * x.most_depth()), 1, n_depths_)},
          panels_{most_depths_ * n_panels * unit * x.most_depth()} {}

    int64_t most_depths() const { return most_depths_; }
    float* At(const Range& q, int64_t panel) const {
        return panels_.data() + ((q.begin - begin_) * n_panels_ + panel * q.size()) * unit_;
    }
    // Calls pack(i, q, panel, to) for all panels of depths [begin, end), on all threads; q is the
    // range of depth i.
    void Pack(int64_t begin, int64_t end, const auto& pack) {
        begin_ = Range{k_, n_depths_, begin}.begin;
        const int64_t n = (end - begin) * n_panels_;
        const int64_t count = std::min<int64_t>(n, 2 * GetNumThreads());
        ParallelFor(count, [&](int64_t i) {
            const Range part{n, count, i};
            for (int64_t p = part.begin; p < part.end; ++p) {
                const int64_t depth = begin + p / n_panels_;
                const Range q{k_, n_depths_, depth};
                pack(depth, q, p % n_panels_, At(q, p % n_panels_));
            }
        });
    }

 private:
    static constexpr int64_t kMax = 1 << 21;  // elements, unless one depth has more

    int64_t k_;
    int64_t n_depths_;
    int64_t n_panels_;
    int64_t unit_;
    int64_t most_depths_;
    Scratch<float> panels_;
    int64_t begin_ = 0;
};

// Provides B panels to the tiles of a part.
class PanelsOfB {
 public:
    PanelsOfB(const Product& x, const SharedPanels* shared)
        : x_{x},
          shared_{shared},
          way_{shared != nullptr                          ? Way::kShared
               : IsPackedAlready(x.b, x.m)                ? Way::kInPlace
               : x.n_row_blocks() == 1 && x.b.column != 1 ? Way::kJustInTime
                                                          : Way::kBlock},
          width_{std::min(
              way_ == Way::kBlock && x.n_row_blocks() == 1 ? kSmallBlockColumns : kBlockColumns,
              CeilDiv(x.n, columns_) * columns_)},
          own_{way_ == Way::kShared ? 0
                                    : (way_ == Way::kBlock ? width_ : columns_) * x.most_depth()} {}

    int64_t width() const { return width_; }  // of a block
    // Begins a block of columns [begin, end), to be multiplied with all rows.
    void StartBlock(int64_t begin, int64_t end, const Range& q) {
        begin_ = begin;
        end_ = end;
        if (way_ == Way::kBlock) PackB(x_, begin, end, q, own_.data());
    }
    TileRun<float> Panel(int64_t j, const Range& q) const {
        if (way_ == Way::kInPlace && x_.n - j >= columns_) {
            return {0, q.size(), x_.b.at(q.begin, j), x_.b.row};
        }
        float* const packed = Packed(j, q);
        if (way_ == Way::kInPlace || way_ == Way::kJustInTime) {
            PackB(x_, j, j + columns_, q, packed);
        }
        return {0, q.size(), packed, columns_};
    }
    // Makes the tile prefetch part i of n of the panel after the one at j.
    void PrefetchNext(int64_t j, const Range& q, int64_t i, int64_t n, TileRun<float>* run) const {
        j += columns_;
        if (j >= end_) return;
        if (way_ == Way::kJustInTime) {  // adjacent along k: two lines of each column
            constexpr int64_t kTwoLines = 32;
            const int64_t first = std::min(i * kTwoLines, q.size());
            run->next = x_.b.at(q.begin + first, j);
            run->next_row = x_.b.column;
            run->n_next = first == q.size() ? 0 : std::min<int64_t>(columns_, x_.n - j);
            return;
        }
        const Range rows{q.size(), n, i};
        run->next_row = run->b_step;
        run->next = (way_ == Way::kInPlace ? x_.b.at(q.begin, j) : Packed(j, q)) +
                    rows.begin * run->next_row;
        run->n_next = rows.size();
    }

 private:
    enum class Way {
        kShared,
        kInPlace,
        kJustInTime,  // one panel at a time, for a single block of rows
        kBlock,
    };

    float* Packed(int64_t j, const Range& q) const {
        switch (way_) {
            case Way::kShared:
                return shared_->At(q, j / columns_);
            case Way::kBlock:
                return own_.data() + (j - begin_) * q.size();
            default:
                return own_.data();
        }
    }

    const int64_t columns_ = gemm_loops().f32.columns;
    const Product& x_;
    const SharedPanels* shared_;
    Way way_;
    int64_t width_;
    Scratch<float> own_;
    int64_t begin_ = 0;
    int64_t end_ = 0;
};

}  // namespace chainerx::native::gemm
