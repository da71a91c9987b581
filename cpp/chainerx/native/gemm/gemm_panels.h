// What a large product of float32 matrices reads: its operands, cut into blocks, and the panels
// that are made of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "chainerx/core/thread_pool.h"
#include "chainerx/native/gemm/cache_sets.h"
#include "chainerx/native/gemm/gemm_loops.h"
#include "chainerx/native/parts.h"
#include "chainerx/native/scratch.h"

namespace chainerx::native::gemm {

// A block of a of this many rows stays in the second-level cache, and one of b of this many columns
// in the third, or, for one block of rows, in the second as well.
inline constexpr int64_t kBlockRows = 504;
inline constexpr int64_t kBlockColumns = 4096;
inline constexpr int64_t kFewBlockColumns = 512;

// A matrix that is read: element (i, j) at data[i * row + j * column].
struct Operand2d {
    const float* data;
    int64_t row;
    int64_t column;

    const float* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
};

// Whether panels of b are read where they are: with few rows of a to share it among, packing takes
// longer than it saves. Not where rows of b share a set of the caches, nor where a panel has a line
// of each page: these come one by one.
inline bool IsPackedAlready(const Operand2d& b, int64_t m) {
    constexpr int64_t kFew = 128;
    constexpr int64_t kLine = 64 / sizeof(float);
    constexpr int64_t kPage = 4096 / sizeof(float);
    return b.column == 1 && m <= kFew && !SharesSets<float>(b.row) &&
           (gemm_loops().f32.columns > kLine || b.row < kPage);
}

// c = a b, or c += a b: all of a product, or what one part computes of it. A bias, if there is one,
// is added to each row; what is then less than 0 becomes 0 if `rectified`, which needs a bias.
// `sums`, unless null, gets what the rows of a add up to, depth by depth, `ld_sums` apart.
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
        if (begin != 0) part.sums = nullptr;  // the first part sees all of a
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

// The panels of a block of rows: as many rows each, nearly.
struct RowBlock {
    Part rows;
    int64_t n_panels;

    RowBlock(const Product& x, int64_t i)
        : rows{x.m, x.n_row_blocks(), i}, n_panels{CeilDiv(rows.size(), gemm_loops().f32.rows)} {}
    Part Panel(int64_t p) const { return {rows.size(), n_panels, p}; }
};

inline void PackA(const Product& x, const RowBlock& block, int64_t p, const Part& q, float* to) {
    const Part i = block.Panel(p);
    gemm_loops().f32.pack_a(x.a.at(block.rows.begin + i.begin, q.begin), x.a.row, x.a.column,
                            i.size(), q.size(), to);
}

// Sums up the rows of panel p of depth number i, which has just been packed.
inline void SumPanel(const Product& x, const RowBlock& block, int64_t p, int64_t i,
                     const float* panel) {
    const Part rows = block.Panel(p);
    gemm_loops().sum_rows(panel, rows.size(), Part{x.k, x.n_depths(), i}.size(),
                          x.sums + i * x.ld_sums + block.rows.begin + rows.begin);
}

// Rows of a panel of AVX-512.
inline constexpr int64_t kLongPanel = 14;
inline constexpr int64_t kPackedTogether = 12;

// At most kPackedTogether panels of rows that are adjacent, but not the last one: the row behind a
// short panel is one of the next, at which no tile looks.
inline void PackTogether(const Product& x, const RowBlock& block, const Part& panels, const Part& q,
                         float* to) {
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

// All panels of a block, one behind the other. Of a matrix that is transposed, several at a time:
// a panel takes less than a line of each of its columns, and these are too far apart for the
// processor to foresee the next one. Short panels, of AVX2, don't gain by it.
inline void PackBlockOfA(const Product& x, const RowBlock& block, const Part& q, float* to) {
    const int64_t rows = gemm_loops().f32.rows;
    int64_t p = 0;
    if (rows == kLongPanel && x.a.row == 1 && x.a.column != 1) {
        while (p < block.n_panels - 1) {
            const Part panels{p, std::min(block.n_panels - 1, p + kPackedTogether)};
            PackTogether(x, block, panels, q, to);
            p = panels.end;
        }
    }
    for (; p < block.n_panels; ++p) PackA(x, block, p, q, to + p * rows * q.size());
}

inline void PackB(const Product& x, int64_t j, int64_t end, const Part& q, float* to) {
    gemm_loops().f32.pack_b(x.b.at(q.begin, j), x.b.row, x.b.column, std::min(end, x.n) - j,
                            q.size(), to);
}

// All panels of an operand for some of the depths: what the threads share of it.
class SharedPanels {
 public:
    SharedPanels(const Product& x, int64_t n_panels, int64_t unit)
        : k_{x.k},
          n_depths_{x.n_depths()},
          n_panels_{n_panels},
          unit_{unit},
          most_depths_{
              std::clamp<int64_t>(kMost / (n_panels * unit * x.most_depth()), 1, n_depths_)},
          panels_{most_depths_ * n_panels * unit * x.most_depth()} {}

    int64_t most_depths() const { return most_depths_; }
    float* At(const Part& q, int64_t panel) const {
        return panels_.data() + ((q.begin - begin_) * n_panels_ + panel * q.size()) * unit_;
    }
    // Calls pack(i, q, panel, to) for all panels of depths [begin, end), on all threads; q is depth
    // number i.
    template <typename F>
    void Pack(int64_t begin, int64_t end, const F& pack) {
        begin_ = Part{k_, n_depths_, begin}.begin;
        const int64_t n = (end - begin) * n_panels_;
        const int64_t count = std::min<int64_t>(n, 2 * GetNumThreads());
        ParallelFor(count, [&](int64_t i) {
            const Part part{n, count, i};
            for (int64_t p = part.begin; p < part.end; ++p) {
                const int64_t depth = begin + p / n_panels_;
                const Part q{k_, n_depths_, depth};
                pack(depth, q, p % n_panels_, At(q, p % n_panels_));
            }
        });
    }

 private:
    static constexpr int64_t kMost = 1 << 21;  // elements, unless one depth has more

    int64_t k_;
    int64_t n_depths_;
    int64_t n_panels_;
    int64_t unit_;
    int64_t most_depths_;
    Scratch<float> panels_;
    int64_t begin_ = 0;
};

// Where the tiles of a part find panels of b.
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
              way_ == Way::kBlock && x.n_row_blocks() == 1 ? kFewBlockColumns : kBlockColumns,
              CeilDiv(x.n, columns_) * columns_)},
          own_{way_ == Way::kShared ? 0
                                    : (way_ == Way::kBlock ? width_ : columns_) * x.most_depth()} {}

    int64_t width() const { return width_; }  // of a block
    // Columns [begin, end) are a block, which will be multiplied with all rows.
    void StartBlock(int64_t begin, int64_t end, const Part& q) {
        begin_ = begin;
        end_ = end;
        if (way_ == Way::kBlock) PackB(x_, begin, end, q, own_.data());
    }
    TileRun<float> Panel(int64_t j, const Part& q) const {
        if (way_ == Way::kInPlace && x_.n - j >= columns_) {
            return {0, q.size(), x_.b.at(q.begin, j), x_.b.row};
        }
        float* const packed = Packed(j, q);
        if (way_ == Way::kInPlace || way_ == Way::kJustInTime) {
            PackB(x_, j, j + columns_, q, packed);
        }
        return {0, q.size(), packed, columns_};
    }
    // Part i of n of the panel behind the one at j is what the tile asks for ahead of time.
    void AskForNext(int64_t j, const Part& q, int64_t i, int64_t n, TileRun<float>* run) const {
        j += columns_;
        if (j >= end_) return;
        if (way_ == Way::kJustInTime) {  // columns that are adjacent along k: two lines of each
            constexpr int64_t kTwoLines = 32;
            const int64_t first = std::min(i * kTwoLines, q.size());
            run->next = x_.b.at(q.begin + first, j);
            run->next_row = x_.b.column;
            run->n_next = first == q.size() ? 0 : std::min<int64_t>(columns_, x_.n - j);
            return;
        }
        const Part rows{q.size(), n, i};
        run->next_row = run->b_step;
        run->next = (way_ == Way::kInPlace ? x_.b.at(q.begin, j) : Packed(j, q)) +
                    rows.begin * run->next_row;
        run->n_next = rows.size();
    }

 private:
    enum class Way {
        kShared,
        kInPlace,
        kJustInTime,  // one panel at a time, for the only block of rows
        kBlock,
    };

    float* Packed(int64_t j, const Part& q) const {
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
